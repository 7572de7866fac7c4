import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache, ServerError } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { defer, retry, tap, throwError, timeout, timer } from 'rxjs';

/** After how many seconds the same request may get another answer; undefined: it will not. */
function retryAfter(error: unknown): number | undefined {
  if (CombinedGraphQLErrors.is(error))
    return error.errors.map(({ extensions }) => extensions?.retryAfter).find((seconds) => typeof seconds === 'number');
  if (!ServerError.is(error)) return 1; // no answer
  const { statusCode, response } = error; // of a proxy, which may also tell a date: that is NaN
  return statusCode < 500 && statusCode !== 429 ? undefined : Number(response.headers.get('retry-after') ?? 1);
}

/** A client that tries again. It tells `onWait` for how many seconds it waits, and 0 when it sends. */
export function createClient(uri: string, key: string, onWait: (seconds: number) => void = () => {}): ApolloClient {
  // Apollo's RetryLink does so after network errors only: a refusal is an answer.
  const tryAgain = new ApolloLink((operation, forward) =>
    defer(() => {
      onWait(0);
      return forward(operation);
    }).pipe(
      timeout(10_000),
      tap((result) => {
        const error = new CombinedGraphQLErrors(result, result.errors ?? []);
        if (retryAfter(error) !== undefined) throw error;
      }),
      retry({
        count: 4,
        delay(error) {
          const seconds = retryAfter(error);
          if (seconds === undefined || !(seconds <= 60)) return throwError(() => error);
          onWait(seconds);
          return timer(seconds * 1000 * (1 + Math.random() / 2)); // not all clients at the same moment
        },
      }),
    ),
  );
  const http = new HttpLink({ uri, headers: { authorization: `Bearer ${key}` } });
  const fields = { petsConnection: relayStylePagination(['status']) };
  const cache = new InMemoryCache({ typePolicies: { Query: { fields } } });
  return new ApolloClient({ link: ApolloLink.from([tryAgain, http]), cache });
}
