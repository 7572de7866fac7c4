import { codeSamples, EXACT, quote, shellQuote } from './code-samples.js';

/*
 * Programs for the guides, by language. Each does one thing that a client needs and runs as it stands, with the key in an
 * environment variable.
 */

type Recipes = Readonly<Record<string, string>>;

/** Programs that read all pages from `url` on. */
export function pagingRecipes(url: string, variable: string): Recipes {
  return {
    curl: `url=${shellQuote(url)}
while [ -n "$url" ]; do
  curl -sS -D headers.txt -H "Authorization: Bearer $${variable}" "$url"
  url=$(sed -n 's/^[Ll]ink: <\\([^>]*\\)>; rel="next".*/\\1/p' headers.txt)
done`,
    JavaScript: `${EXACT}
const headers = { Authorization: \`Bearer \${process.env.${variable}}\` };
let url = ${quote(url)};
while (url) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(await response.text());
  console.log(JSON.parse(await response.text(), exact));
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link')) ?? [];
  url = next && new URL(next, url).href;
}`,
    Python: `import os
import requests

session = requests.Session()
session.headers['Authorization'] = f"Bearer {os.environ['${variable}']}"
url = ${quote(url)}
while url:
    page = session.get(url, timeout=10)
    page.raise_for_status()
    print(page.json())
    url = page.links.get('next', {}).get('url')
    url = url and requests.compat.urljoin(page.url, url)`,
  };
}

/** Programs that POST `body`, which is JSON, to `url`: it has its effect once, however often they try. */
export function retryRecipes(url: string, body: string, variable: string): Recipes {
  return {
    curl: `curl ${shellQuote(url)} \\
  -H "Authorization: Bearer $${variable}" \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: order-1001' \\
  --retry 5 \\
  --data-raw ${shellQuote(body)}`,
    JavaScript: `import { setTimeout as delay } from 'node:timers/promises';

const headers = {
  Authorization: \`Bearer \${process.env.${variable}}\`,
  'Content-Type': 'application/json',
  'Idempotency-Key': crypto.randomUUID(), // the same one with each try
};
const body = ${quote(body)};
for (let tries = 1; ; tries++) {
  const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
  const response = await fetch(${quote(url)}, request).catch(() => undefined);
  if (response && ![409, 429, 503].includes(response.status)) {
    console.log(response.status, await response.text());
    break;
  }
  if (tries === 5) throw new Error('No answer after 5 tries.');
  const seconds = Number(response?.headers.get('Retry-After') ?? 1);
  await delay(seconds * 1000 * (1 + Math.random())); // not all clients at the same moment
}`,
    Python: `import os, random, time, uuid
import requests

headers = {
    'Authorization': f"Bearer {os.environ['${variable}']}",
    'Content-Type': 'application/json',
    'Idempotency-Key': str(uuid.uuid4()),  # the same one with each try
}
body = ${quote(body)}.encode()
for _ in range(5):
    seconds = 1
    try:
        response = requests.post(${quote(url)}, headers=headers, data=body, timeout=10)
        if response.status_code not in (409, 429, 503):
            print(response.status_code, response.text)
            break
        seconds = int(response.headers.get('Retry-After', 1))
    except (requests.ConnectionError, requests.Timeout):
        pass
    time.sleep(seconds * (1 + random.random()))  # not all clients at the same moment
else:
    raise RuntimeError('No answer after 5 tries.')`,
  };
}

/** Programs that make a call in GraphQL. */
export function graphqlRecipes(url: string, query: string, variable: string): Recipes {
  const headers = [['Content-Type', 'application/json']];
  const calls = codeSamples({ method: 'POST', url, headers, body: JSON.stringify({ query }) }, variable, false);
  return {
    ...calls,
    JavaScript: `${calls.JavaScript}\nconsole.dir(await response.json(), { depth: null });`,
    Python: `${calls.Python}\nprint(response.json())`,
  };
}

/** Programs that read all pages of a connection: the one root field of `query`, with the cursor in the variable `after`. */
export function connectionRecipes(url: string, query: string, variable: string): Recipes {
  return {
    GraphQL: query,
    JavaScript: `const query = \`${query}\`;
const headers = {
  Authorization: \`Bearer \${process.env.${variable}}\`,
  'Content-Type': 'application/json',
};
let after;
do {
  const request = { method: 'POST', headers, body: JSON.stringify({ query, variables: { after } }) };
  const response = await fetch(${quote(url)}, { ...request, signal: AbortSignal.timeout(10_000) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(\`\${errors[0].extensions.code}: \${errors[0].message}\`);
  const [{ edges, pageInfo }] = Object.values(data);
  console.log(edges.map(({ node }) => node));
  after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
} while (after);`,
    Python: `import os
import requests

query = '''${query}'''
headers = {'Authorization': f"Bearer {os.environ['${variable}']}"}
after = None
while True:
    body = {'query': query, 'variables': {'after': after}}
    answer = requests.post(${quote(url)}, json=body, headers=headers, timeout=10).json()
    if 'errors' in answer:
        raise RuntimeError(answer['errors'][0])
    [page] = answer['data'].values()
    print([edge['node'] for edge in page['edges']])
    if not page['pageInfo']['hasNextPage']:
        break
    after = page['pageInfo']['endCursor']`,
  };
}
