const query = __QUERY__;
const headers = {
  Authorization: `Bearer ${process.env.__VARIABLE__}`,
  'Content-Type': 'application/json',
};
let after;
do {
  const request = { method: 'POST', headers, body: JSON.stringify({ query, variables: { after } }) };
  const response = await fetch(__URL__, { ...request, signal: AbortSignal.timeout(10_000) });
  const { data, errors, message } = await response.json();
  if (errors) throw new Error(`${errors[0].extensions.code}: ${errors[0].message}`);
  if (!data) throw new Error(message);
  const [{ edges, pageInfo }] = Object.values(data);
  console.log(edges.map(({ node }) => node));
  after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
} while (after);
