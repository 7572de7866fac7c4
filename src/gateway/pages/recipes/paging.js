const exact = (key, value, { source }) => (/^-?\d+$/.test(source) ? BigInt(source) : value);
const headers = { Authorization: `Bearer ${process.env.__VARIABLE__}` };
let url = __URL__;
while (url) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(await response.text());
  console.log(JSON.parse(await response.text(), exact));
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link')) ?? [];
  url = next && new URL(next, url).href;
}
