import { CREATE_KEY } from '../command-line.ts';
import { type Deprecation, deprecationHeaders, longDay } from '../deprecations.ts';
import { ERRORS } from '../errors.ts';
import { KEY_PREFIX } from '../masking.ts';
import type { Service } from '../service.ts';
import { codeSamples, formatJson, quote, shellQuote } from './code-samples.js';
import { ADDRESS, type Content, fillFile, html, inline, relative, VARIABLE } from './page.ts';
import type { Site } from './site.ts';

/** The guides of the reference, in the order in which a client is written. One is left out whose code is undefined; '' is text alone. */
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
    deprecations: [
      'Deprecations',
      service.deprecations.map((one) => describeHeaders(one, site.publicPath)).join('\n\n') || undefined,
    ],
    changes: ['Changes', service.changes?.length ? '' : undefined],
  };
  const contents = {
    LIMIT: list.limitMax,
    INTEGERS: nameIntegers(calls.int64Names),
    ERRORS: Object.entries(ERRORS).map(describeError),
    GRAPHIQL:
      site.graphiql && html`<a href="${relative(graphqlPath)}">GraphiQL</a> shows it and completes what you type.`,
    REFUSALS: graphqlRefusals.map(
      ({ code, message }) => html`<dt><code>${code}</code></dt><dd>${inline(message)}</dd>`,
    ),
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

function describeHeaders(deprecation: Deprecation, publicPath: string): string {
  const headers = Object.entries(deprecationHeaders(deprecation, publicPath));
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

function describeVersion({ version, changes }: NonNullable<Site['service']['changes']>[number]) {
  return html`<h3>${inline(version)}</h3><ul>${changes.map((change) => html`<li>${inline(change)}</li>`)}</ul>`;
}

/** Programs by language. Each does one thing that a client needs, and runs as it stands. */
type Recipes = Readonly<Record<string, string>>;

/** The ending of each language's files, and how the language writes a text as a literal. */
const LANGUAGES = {
  curl: ['sh', shellQuote],
  JavaScript: ['js', (text: string) => literalOf(text, '`', /[`\\]|\$\{/g)],
  Python: ['py', (text: string) => literalOf(text, "'''", /['\\]/g)],
} as const;

type Language = keyof typeof LANGUAGES;

/** A text of several lines stands between two `quotes`, with a backslash before what is `special` there. */
function literalOf(text: string, quotes: string, special: RegExp): string {
  return text.includes('\n') ? quotes + text.replaceAll(special, '\\$&') + quotes : quote(text);
}

/** The programs `name` of the folder `recipes`; `texts` stand in them as literals. */
export function readRecipes(
  name: string,
  texts: Readonly<Record<string, string>>,
  languages: readonly Language[] = ['curl', 'JavaScript', 'Python'],
): Recipes {
  const programs = languages.map((language) => {
    const [ending, literal] = LANGUAGES[language];
    const literals = Object.entries(texts).map(([key, text]) => [key, literal(text)]);
    return [language, fillFile(`recipes/${name}.${ending}`, { ...Object.fromEntries(literals), VARIABLE })];
  });
  return Object.fromEntries(programs);
}

/** Programs that send a query to the GraphQL API. */
function queryRecipes(url: string, query: string): Recipes {
  const headers = [['Content-Type', 'application/json']];
  const calls = codeSamples({ method: 'POST', url, headers, body: JSON.stringify({ query }) }, VARIABLE, false);
  return {
    ...calls,
    JavaScript: `${calls.JavaScript}\nconsole.dir(await response.json(), { depth: null });`,
    Python: `${calls.Python}\nprint(response.json())`,
  };
}

/** Programs that read all pages of a connection: the one root field of `query`, with the cursor in the variable `after`. */
function connectionRecipes(url: string, query: string): Recipes {
  const texts = { URL: url, QUERY: query };
  return { GraphQL: query, ...readRecipes('graphql-paging', texts, ['JavaScript', 'Python']) };
}
