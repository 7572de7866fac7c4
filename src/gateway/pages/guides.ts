import { CREATE_KEY } from '../command-line.ts';
import { type Deprecation, deprecationHeaders, longDay } from '../deprecations.ts';
import { ERRORS } from '../errors.ts';
import { KEY_PREFIX } from '../masking.ts';
import type { Service } from '../service.ts';
import { formatJson, shellQuote } from './code-samples.js';
import { type Content, fillFile, html, inline } from './html.ts';
import { ADDRESS, relative } from './page.ts';
import { connectionRecipes, queryRecipes, type Recipes, readRecipes, VARIABLE } from './recipes.ts';
import type { Site } from './site.ts';

/** The guides of the reference, in the order in which a client is written. One without code beside its text is left out. */
export function createGuides(site: Site) {
  const { service, calls, graphqlPath, graphqlRefusals } = site;
  const { list, create } = calls;
  const url = ADDRESS + list.path;
  const graphqlUrl = ADDRESS + graphqlPath;
  const connection = exampleConnection(service);
  const guides: Record<string, readonly [title: string, code: string | Recipes | undefined]> = {
    keys: ['Keys', fillFile('recipes/keys.sh', { CREATE_KEY, VARIABLE, KEY_PREFIX, URL: shellQuote(url) })],
    errors: ['Errors', JSON.stringify(list.refusal, null, 2)],
    retries: ['Retries', create && readRecipes('retries', { URL: ADDRESS + create.path, BODY: create.bodyJson })],
    int64: ['64-bit ids', fillFile('recipes/int64.js', {})],
    paging: ['REST paging', readRecipes('paging', { URL: `${url}?limit=${list.limitMax}` })],
    graphql: ['GraphQL calls', queryRecipes(graphqlUrl, service.firstCalls.graphql)],
    'graphql-paging': ['GraphQL paging', connection === undefined ? '' : connectionRecipes(graphqlUrl, connection)],
    limits: ['GraphQL limits', exampleRefusal(graphqlRefusals)],
    deprecations: ['Deprecations', service.deprecations.map(describeHeaders).join('\n\n') || undefined],
    changes: ['Changes', service.changes?.length ? '' : undefined],
  };
  const contents = {
    LIMIT: list.limitMax,
    INTEGERS: nameIntegers(calls.int64Names),
    ERRORS: Object.entries(ERRORS).map(describeError),
    GRAPHIQL:
      site.graphiql && html`<a href="${relative(graphqlPath)}">GraphiQL</a> shows it and completes what you type.`,
    REFUSALS: graphqlRefusals.map(describeRefusal),
    DEPRECATIONS: service.deprecations.map(describeDeprecation),
    CHANGES: service.changes?.map(describeVersion),
  };
  return Object.entries(guides).flatMap(([id, [title, code]]) =>
    code === undefined ? [] : [{ id, title, code, text: site.fill(`guides/${id}.html`, contents) }],
  );
}

/** The GraphQL of a tab of GraphiQL that asks for `pageInfo`, without its comments. */
function exampleConnection({ resources }: Service): string | undefined {
  const tabs = resources.flatMap((resource) => resource.tabs ?? []);
  const query = tabs.find((tab) => tab.query.includes('pageInfo'))?.query;
  return query?.replaceAll(/^#.*\n/gm, '').trim();
}

function exampleRefusal(refusals: Site['graphqlRefusals']): string {
  const [{ code, message } = {}] = refusals.slice(-1);
  return formatJson(JSON.stringify({ errors: [{ message, extensions: { code } }] }), '  ');
}

function describeError([code, error]: [string, (typeof ERRORS)[keyof typeof ERRORS]]) {
  const again = error.retryAfterS !== undefined && html` Send it again after <code>Retry-After</code>.`;
  return html`<dt>${error.status} <code>${code}</code> <code class="kind">${error.graphql}</code></dt><dd>${inline(error.meaning)}${again}</dd>`;
}

function describeRefusal({ code, message }: Site['graphqlRefusals'][number]) {
  return html`<dt><code>${code}</code></dt><dd>${inline(message)}</dd>`;
}

/** Not by Intl.ListFormat, which loads the rules of all locales and so makes the start slower. */
function nameIntegers(names: readonly string[]): Content {
  const between = (index: number) => index > 0 && (index === names.length - 1 ? ' and ' : ', ');
  const list = names.map((name, index) => html`${between(index)}<code>${name}</code>`);
  return [list, names.length === 1 ? ' is a JSON integer' : ' are JSON integers'];
}

function describeDeprecation({ coordinate, sunset, replacement, steps = [] }: Deprecation) {
  const requests = steps.map(
    ({ purpose, rest, graphql, note = '' }) =>
      html`<dt>${inline(purpose)}</dt><dd>${inline(`\`${rest}\` or \`${graphql}\`. ${note}`)}</dd>`,
  );
  return html`<p><code>${coordinate}</code> in GraphQL, and what is made of it in REST: until ${longDay(sunset)}. Use <code>${replacement.graphql}</code>, or ${inline(replacement.rest)}.</p><dl>${requests}</dl>`;
}

function describeHeaders(deprecation: Deprecation): string {
  const headers = Object.entries(deprecationHeaders(deprecation));
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

function describeVersion({ version, changes }: NonNullable<Site['service']['changes']>[number]) {
  return html`<h3>${inline(version)}</h3><ul>${changes.map((change) => html`<li>${inline(change)}</li>`)}</ul>`;
}
