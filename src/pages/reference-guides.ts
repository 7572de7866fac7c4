import { CREATE_KEY } from '../command-line.ts';
import { type Deprecation, deprecationHeaders, longDay } from '../deprecations.ts';
import { ERRORS } from '../errors.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { keyVariable } from './code-samples.js';
import { createGraphqlGuides, type Guide } from './graphql-guides.ts';
import { ADDRESS, capitalised, inline } from './page.ts';
import { pagingRecipes, retryRecipes } from './recipes.ts';
import type { Site } from './site.ts';

const VARIABLE = keyVariable(KEY_PREFIX);

/** The guides of the reference, in the order in which a client is written. */
export function createGuides(site: Site): readonly Guide[] {
  const { service, calls } = site;
  const { list, create, int64Names } = calls;
  const { things, deprecations, changes = [] } = service;
  const names = new Intl.ListFormat('en-GB').format(int64Names.map((name) => `<code>${name}</code>`));
  const are = int64Names.length === 1 ? 'is a JSON integer' : 'are JSON integers';
  const guides = [
    {
      id: 'keys',
      title: 'Keys',
      text: `<p>Every call carries an API key: ${inline('`Authorization: Bearer <key>`')}. REST and GraphQL take the same keys. Whoever runs the gateway makes one; it is shown once. A key may expire, and a read-only key cannot add ${things} (403).</p><p>Keep a key in an environment variable, not in the code: the samples read <code>${VARIABLE}</code>. A key that is pasted above stays in this browser tab and goes to this gateway only.</p>`,
      code: `${CREATE_KEY}\nexport ${VARIABLE}=${KEY_PREFIX}…\ncurl -H "Authorization: Bearer $${VARIABLE}" '${ADDRESS}${list.path}'`,
    },
    {
      id: 'errors',
      title: 'Errors',
      text: `<p>In REST every answer of 400 and above is an Error; in GraphQL each error has its code in <code>extensions</code>. Branch on the code, show <code>message</code> to a person. Give the <code>X-Request-Id</code> of the answer to whoever runs the gateway; the log has it.</p><dl>${Object.entries(ERRORS).map(describeError).join('')}</dl><p>GraphQL has <a href="#limits">further codes</a> for its documents.</p>`,
      code: JSON.stringify(list.refusal, null, 2),
    },
    {
      id: 'retries',
      title: 'Retries',
      text: `<p>Reading may be repeated at will. Send an <code>Idempotency-Key</code> of your own with each call that adds ${things}, in REST and in GraphQL, and repeat the same call after a network fault, 409, 429 or 503: for 24 hours it gets the first answer again, with ${inline('`Idempotency-Replayed: true`')}, and adds nothing more. Wait as many seconds as <code>Retry-After</code> says. In GraphQL an error that passes says it in <code>extensions.retryAfter</code>, too.</p>`,
      code: create && retryRecipes(ADDRESS + create.path, create.bodyJson, VARIABLE),
    },
    {
      id: 'int64',
      title: '64-bit ids',
      text: `<p>${names} ${are} of up to 64 bits. Many parsers make them floating-point numbers, which end at 9007199254740991: 9007199254740993 becomes …992. Python, Java, Go and C# read them exactly into their integer types. In JavaScript, give <code>JSON.parse</code> a reviver that reads the digits from <code>source</code>; GraphQL has ids as strings.</p>`,
      code: `const exact = (key, value, { source }) =>\n  /^-?\\d+$/.test(source) ? BigInt(source) : value;\n\nJSON.parse('{"id":9007199254740993}', exact).id;\n// 9007199254740993n`,
    },
    {
      id: 'paging',
      title: 'REST paging',
      text: `<p>Lists are ordered by id. When more ${things} follow, the answer has a <code>Link</code> header with ${inline('`rel="next"`')}: ask for that address as it stands. No <code>Link</code>, no further page. ${capitalised(things)} that are added meanwhile neither shift nor repeat a page.</p><p>Pages are no change feed: an id is given when a call begins, so a smaller id than you have seen may still appear, as a rule within seconds.</p>`,
      code: pagingRecipes(`${ADDRESS}${list.path}?limit=${list.limitMax}`, VARIABLE),
    },
    ...createGraphqlGuides(site),
    {
      id: 'deprecations',
      title: 'Deprecations',
      text: `<p>What will be removed says so in every answer: <code>Deprecation</code> since when, <code>Sunset</code> until when, and <code>Link</code> what replaces it. Log these headers where your client sees them.</p>${deprecations.map(describeDeprecation).join('')}`,
      code: deprecations.length === 0 ? undefined : deprecations.map(describeHeaders).join('\n\n'),
    },
    {
      id: 'changes',
      title: 'Changes',
      text: changes.map(describeVersion).join(''),
      code: changes.length === 0 ? undefined : '',
    },
  ];
  return guides.flatMap(({ code, ...guide }) => (code === undefined ? [] : [{ ...guide, code }]));
}

function describeError([code, error]: [string, (typeof ERRORS)[keyof typeof ERRORS]]): string {
  const again = error.retryAfterS ? ' Send it again after <code>Retry-After</code>.' : '';
  return `<dt>${error.status} <code>${code}</code> <code class="kind">${error.graphql}</code></dt><dd>${inline(error.meaning)}${again}</dd>`;
}

function describeDeprecation({ coordinate, sunset, replacement, steps = [] }: Deprecation): string {
  const requests = steps.map(
    ({ purpose, rest, graphql, note = '' }) =>
      `<dt>${inline(purpose)}</dt><dd>${inline(`\`${rest}\` or \`${graphql}\`. ${note}`)}</dd>`,
  );
  return `<p><code>${coordinate}</code> in GraphQL, and what is made of it in REST: until ${longDay(sunset)}. Use <code>${replacement.graphql}</code>, or ${inline(replacement.rest)}.</p><dl>${requests.join('')}</dl>`;
}

function describeHeaders(deprecation: Deprecation): string {
  const headers = Object.entries(deprecationHeaders(deprecation));
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

function describeVersion({ version, changes }: NonNullable<Site['service']['changes']>[number]): string {
  return `<h3>${inline(version)}</h3><ul>${changes.map((change) => `<li>${inline(change)}</li>`).join('')}</ul>`;
}
