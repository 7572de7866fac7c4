// Runs in the browser: what Swagger UI does not show by itself, as a plugin of it.
// https://github.com/swagger-api/swagger-ui/blob/master/docs/customization/plugin-api.md

/** @import { Component, CreateElement, Operation, Properties, System } from './swagger-ui.js' */

import { codeSamples } from './code-samples.js';

/**
 * Badges for stability and sunset, the deprecation's notice, code samples, exact 64-bit integers in answers.
 * @param {string} base the address that the samples call
 */
export function gatewayPlugin(base) {
  return (/** @type {System} */ { React, specSelectors, getComponent }) => {
    const h = React.createElement;
    /** @param {string} path @param {string} method */
    const operationAt = (path, method) => specSelectors.specJson().getIn(['paths', path, method]).toJS();
    /** @param {Properties} props */
    const CodeSamples = ({ path, method }) => {
      const [chosen, choose] = React.useState(0);
      const samples = codeSamples(base, method, path, operationAt(path, method));
      const code = h(
        getComponent('HighlightCode', true),
        { language: samples[chosen]?.language, canCopy: true },
        samples[chosen]?.code,
      );
      return h('div', { className: 'code-samples' }, sampleTabs(h, samples, chosen, choose), code);
    };
    const before =
      (/** @type {Component} */ Original, /** @type {Component} */ Addition) => (/** @type {Properties} */ props) =>
        h(React.Fragment, null, h(Addition, props), h(Original, props));
    return {
      wrapComponents: {
        OperationSummaryPath: (/** @type {Component} */ Original) => (/** @type {Properties} */ props) => {
          const { path, method } = props.operationProps.toJS();
          return h(React.Fragment, null, h(Original, props), ...badges(h, operationAt(path, method)));
        },
        parameters: (/** @type {Component} */ Original) =>
          before(Original, ({ pathMethod: [path, method] }) => notice(h, operationAt(path, method))),
        responses: (/** @type {Component} */ Original) => before(Original, CodeSamples),
        responseBody: (/** @type {Component} */ Original) => (/** @type {Properties} */ props) =>
          h(Original, exactBody(props)),
      },
    };
  };
}

/**
 * @param {CreateElement} h @param {readonly { title: string }[]} samples
 * @param {number} chosen @param {(index: number) => void} choose
 */
function sampleTabs(h, samples, chosen, choose) {
  const tabs = samples.map(({ title }, index) =>
    h('button', { key: title, type: 'button', 'aria-pressed': index === chosen, onClick: () => choose(index) }, title),
  );
  return h(
    'div',
    { className: 'opblock-section-header' },
    h('h4', null, 'Code samples'),
    h('div', { className: 'languages' }, tabs),
  );
}

/** @param {CreateElement} h @param {Operation} operation */
function badges(h, { deprecated, 'x-deprecated-sunset': sunset, 'x-stability': stability }) {
  const removal = sunset ? ` · removal ${longDay(sunset)}` : '';
  return [
    deprecated && h('span', { key: 'deprecated', className: 'badge' }, `deprecated${removal}`),
    stability && h('span', { key: 'stability', className: `badge badge-${stability}` }, stability),
  ];
}

/** @param {CreateElement} h @param {Operation} operation */
function notice(h, { 'x-notice': text }) {
  return text ? h('p', { className: 'notice' }, h('strong', null, 'Deprecated. '), text) : null;
}

/** @param {string} isoDay */
function longDay(isoDay) {
  return new Date(isoDay).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** Source text access, https://github.com/tc39/proposal-json-parse-with-source, which TypeScript has no types for yet. */
const { rawJSON } = /** @type {{ rawJSON?: (text: string) => unknown }} */ (/** @type {unknown} */ (JSON));

/**
 * Swagger UI would show an answer as JavaScript reads it, with 64-bit integers rounded: it gets the exact text.
 * @param {Properties} props
 */
function exactBody(props) {
  if (!/json/i.test(props.contentType) || !/\d{16}/.test(props.content)) return props;
  return { ...props, contentType: 'text/plain', content: prettyExact(props.content) };
}

/** @param {string} text */
function prettyExact(text) {
  if (!rawJSON) return text;
  const keepDigits = (
    /** @type {string} */ _key,
    /** @type {unknown} */ value,
    /** @type {{ source?: string }} */ context,
  ) => (typeof value === 'number' && context.source !== undefined ? rawJSON(context.source) : value);
  try {
    return JSON.stringify(
      JSON.parse(text, /** @type {(key: string, value: unknown) => unknown} */ (keepDigits)),
      null,
      2,
    );
  } catch {
    return text; // no JSON after all
  }
}
