import { type Deprecation, longDay } from '../deprecations.ts';
import { ERRORS } from '../errors.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { keyVariable } from './code-samples.js';
import { capitalised, inline } from './page.ts';
import type { Site } from './site.ts';

const VARIABLE = keyVariable(KEY_PREFIX);

/**
 * The guides of the reference, in the order in which a client is written. `text` is HTML, `example` is code beside it.
 */
export function createGuides({ service, baseUrl, calls: { list, create, int64Names } }: Site) {
  const { things, deprecations } = service;
  const codes = Object.entries(ERRORS).map(([code, { status }]) => `<li>${status} <code>${code}</code></li>`);
  const names = new Intl.ListFormat('en-GB').format(int64Names.map((name) => `<code>${name}</code>`));
  const are = int64Names.length === 1 ? 'is a JSON integer' : 'are JSON integers';
  const guides = [
    {
      id: 'keys',
      title: 'Keys',
      text: `<p>Every call carries an API key: ${inline('`Authorization: Bearer <key>`')}. REST and GraphQL take the same keys. Whoever runs the gateway makes one; it is shown once. A key may expire, and a read-only key cannot add ${things} (403).</p><p>Keep a key in an environment variable, not in the code: the samples read <code>${VARIABLE}</code>. A key that is pasted above stays in this browser tab and goes to this gateway only.</p>`,
      example: `npm run keys -- create --name NAME\nexport ${VARIABLE}=${KEY_PREFIX}…\ncurl -H "Authorization: Bearer $${VARIABLE}" '${baseUrl}${list.path}'`,
    },
    {
      id: 'paging',
      title: 'Paging',
      text: `<p>Lists are ordered by id. When more ${things} follow, the answer has a <code>Link</code> header with ${inline('`rel="next"`')}: ask for that address as it stands. No <code>Link</code>, no further page. ${capitalised(things)} that are added meanwhile neither shift nor repeat a page.</p>`,
      example: `import requests, os\n\nsession = requests.Session()\nsession.headers['Authorization'] = f"Bearer {os.environ['${VARIABLE}']}"\nurl = '${baseUrl}${list.path}?limit=${list.limitMax}'\nwhile url:\n    page = session.get(url, timeout=10)\n    page.raise_for_status()\n    print(page.json())\n    url = page.links.get('next', {}).get('url')\n    url = url and requests.compat.urljoin(page.url, url)`,
    },
    {
      id: 'retries',
      title: 'Retries',
      text: `<p>Reading may be repeated at will. Send an <code>Idempotency-Key</code> of your own with each call that adds ${things}, and repeat the same call after a network fault, 409, 429 or 503: for 24 hours it gets the first answer again, with ${inline('`Idempotency-Replayed: true`')}, and adds nothing more. Wait as long as <code>Retry-After</code> says.</p>`,
      example: `curl '${baseUrl}${create?.path}' \\\n  -H "Authorization: Bearer $${VARIABLE}" \\\n  -H 'Content-Type: application/json' \\\n  -H "Idempotency-Key: $(uuidgen)" \\\n  --retry 5 \\\n  --data-raw '${create?.bodyJson}'`,
    },
    {
      id: 'errors',
      title: 'Errors',
      text: `<p>Every answer of 400 and above is an Error: branch on <code>code</code>, show <code>message</code> to a person. Give the <code>X-Request-Id</code> of the answer to whoever runs the gateway; the log has it.</p><ul class="codes">${codes.join('')}</ul>`,
      example: JSON.stringify(list.refusal, null, 2),
    },
    {
      id: 'int64',
      title: '64-bit ids',
      text: `<p>${names} ${are} of up to 64 bits. Many parsers make them floating-point numbers, which end at 9007199254740991: 9007199254740993 becomes …992. Python, Java, Go and C# read them exactly into their integer types. In JavaScript, give <code>JSON.parse</code> a reviver that reads the digits from <code>source</code>; GraphQL has ids as strings.</p>`,
      example: `const exact = (key, value, { source }) =>\n  /^-?\\d+$/.test(source) ? BigInt(source) : value;\n\nJSON.parse('{"id":9007199254740993}', exact).id;\n// 9007199254740993n`,
    },
    {
      id: 'deprecations',
      title: 'Deprecations',
      text: `<p>What will be removed says so in every answer: <code>Deprecation</code> since when, <code>Sunset</code> until when, and <code>Link</code> what replaces it. Log these headers where your client sees them.</p><ul>${deprecations.map(describeDeprecation).join('')}</ul>`,
      example: deprecations.map(describeHeaders).join('\n\n'),
    },
  ];
  const isNeeded: Readonly<Record<string, boolean>> = {
    retries: create !== undefined,
    deprecations: deprecations.length > 0,
  };
  return guides.filter(({ id }) => isNeeded[id] ?? true);
}

function describeDeprecation({ coordinate, sunset, replacement }: Deprecation): string {
  return `<li><code>${coordinate}</code> in GraphQL, and what is made of it in REST: until ${longDay(sunset)}. Use <code>${replacement.graphql}</code>, or ${inline(replacement.rest)}.</li>`;
}

function describeHeaders(deprecation: Deprecation): string {
  const headers = Object.entries(deprecationHeaders(deprecation));
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}
