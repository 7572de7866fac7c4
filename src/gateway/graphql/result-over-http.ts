import type { GraphQLError } from 'graphql';
import { type FetchAPI, processRegularResult } from 'graphql-yoga';

/** The part of the Fetch API of which Yoga's function makes its answer. */
const FETCH = { Response } as unknown as FetchAPI; // it uses no other part

/**
 * The answer that tells errors by the rules of GraphQL over HTTP: its status, its headers, and `{"errors":[…]}`. `mediaType` is
 * its media type with the charset.
 */
export async function tellErrors(errors: readonly GraphQLError[], hasData: boolean, mediaType: string) {
  // GraphQL over HTTP §6.4.2: the answer to a request error, such as a wrong variable, has no `data`.
  if (!hasData) for (const { extensions } of errors) extensions.http ??= { status: 400, spec: true };
  const result = {
    errors,
    ...(hasData && { data: null }),
    stringify: (clean: { errors?: unknown }) => `{"errors":${JSON.stringify(clean.errors)}}`,
  };
  const response = processRegularResult(result, FETCH, mediaType.replace(/;.*/, ''));
  const headers = Object.fromEntries(response.headers);
  const { 'content-type': type = mediaType, ...others } = headers; // `others` are those of the errors, such as retry-after
  return { status: response.status, headers: { ...others, 'Content-Type': type }, body: await response.text() };
}
