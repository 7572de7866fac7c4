import { Client, type CombinedError, cacheExchange, fetchExchange, makeOperation } from '@urql/core';
import { retryExchange } from '@urql/exchange-retry';

/** After how many seconds the same request may get another answer; undefined: it will not. NaN: a proxy tells a date. */
function retryAfter({ graphQLErrors, response }: CombinedError): number | undefined {
  if (graphQLErrors.length > 0)
    return graphQLErrors.map(({ extensions }) => extensions.retryAfter).find((seconds) => typeof seconds === 'number');
  const { status, headers } = response ?? new Response(null, { status: 503 }); // no answer
  return status < 500 && status !== 429 ? undefined : Number(headers.get('retry-after') ?? 1);
}

/** A client that tries again. It tells `onWait` for how many seconds it waits, and 0 when it sends. */
export function createClient(url: string, key: string, onWait = (_seconds: number) => {}, cache = cacheExchange) {
  const retry = retryExchange({
    maxNumberAttempts: 5,
    maxDelayMs: Infinity,
    retryIf: (error) => (retryAfter(error) ?? Infinity) <= 60,
    retryWith(error, operation) {
      const seconds = retryAfter(error) ?? 1;
      onWait(seconds);
      // The exchange keeps its delay here, and waits 1.5 to 2.5 times as long: not all clients at the same moment.
      const state = { count: operation.context.retry?.count ?? 0, delay: (seconds * 1000) / 1.5 };
      return makeOperation(operation.kind, operation, { ...operation.context, retry: state });
    },
  });
  return new Client({
    url,
    exchanges: [cache, retry, fetchExchange],
    fetch(input, init) {
      onWait(0);
      const headers = { ...init?.headers, authorization: `Bearer ${key}` }; // `fetchOptions` of an operation replace the client's
      const signals = [AbortSignal.timeout(10_000), ...(init?.signal ? [init.signal] : [])];
      return fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
    },
  });
}
