import { deprecationHeaders, longDay } from '../deprecations.ts';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';
import { IDEMPOTENCY_KEY } from '../schema/context.ts';
import type { Operation, OperationRow, Parameter } from './operation.ts';
import { type Described, type Json, refer, textRefusal, withDefault } from './representation.ts';

/** What the OpenAPI document and the pages tell of an operation. */
export interface OperationDescription
  extends Pick<OperationRow, 'operationId' | 'method' | 'path' | 'summary' | 'description' | 'stability'>,
    Pick<Operation, 'isList' | 'isIdempotent' | 'int64Names'> {
  readonly deprecation?: { readonly sunset: Date; readonly notice: string } | undefined;
  readonly parameters: readonly ParameterDescription[];
  readonly body?: (Described & { readonly example?: unknown }) | undefined;
  /** By ascending status, so the first one is that of success. */
  readonly answers: readonly AnswerDescription[];
}

/** A parameter in a path, a query or a header. */
export interface ParameterDescription extends Described {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  /** Only of a required one: tools send an example by themselves. That of an optional one stands in its description. */
  readonly example?: unknown;
}

/** An answer; with its code, if it is a refusal that is the same for all operations. */
export interface AnswerDescription {
  readonly status: number;
  readonly sharedCode?: ErrorCode;
  readonly description: string;
  readonly headers: readonly string[];
  readonly content?: { readonly schema: Json; readonly example?: unknown } | undefined;
}

/** Describes a compiled row. */
export function describeOperation(operation: Operation): Operation & OperationDescription {
  const { description, body, examples, isPaged, pathParams, queryParams, isIdempotent } = operation;
  const [deprecation] = operation.deprecations;
  const nextPage = 'When more follow, the `Link` header (RFC 8288) holds the address of the next page.';
  return {
    ...operation,
    description: isPaged ? `${description} ${nextPage}` : description,
    deprecation: deprecation && {
      sunset: deprecation.sunset,
      notice: `removal is scheduled for ${longDay(deprecation.sunset)}; use ${deprecation.replacement.rest} instead.`,
    },
    parameters: [
      ...pathParams.map((parameter) => describeParameter(parameter, 'path')),
      ...queryParams.map((parameter) => describeParameter(parameter, 'query')),
      ...(isIdempotent ? [IDEMPOTENCY_PARAMETER] : []),
    ],
    body: body && { ...body, example: examples.body },
    answers: describeAnswers(operation).sort((one, other) => one.status - other.status),
  };
}

function describeParameter(
  { name, argument, leaf, isRequired, example }: Parameter,
  place: 'path' | 'query',
): ParameterDescription {
  const form = isRequired || example === undefined ? '' : `Such as \`${example}\`.`;
  const description = [argument.description, form].filter(Boolean).join(' ');
  return {
    name,
    in: place,
    required: isRequired,
    ...(description && { description }),
    ...withDefault(leaf, argument),
    ...(isRequired && { example }),
  };
}

const IDEMPOTENCY_SCHEMA = { type: 'string', pattern: IDEMPOTENCY_KEY.pattern.source };
const IDEMPOTENCY_PARAMETER: ParameterDescription = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours the same API key with the same Idempotency-Key and the same body gets the first answer again, with `Idempotency-Replayed: true`. Each create has its own, such as `5f0c1a52-8f0e-4c5b-9a4e-6d1f0b8c7e21`.',
  schema: IDEMPOTENCY_SCHEMA,
  reference: IDEMPOTENCY_SCHEMA,
};

function describeAnswers(operation: Operation): AnswerDescription[] {
  const { success, answer, examples, queryParams, body, notFound, isMutation, isPaged, isIdempotent } = operation;
  const [deprecation] = operation.deprecations;
  const headers = [
    'X-Request-Id',
    ...(isPaged ? ['Link'] : []),
    ...(success.location ? ['Location'] : []),
    ...(isIdempotent ? ['Idempotency-Replayed'] : []),
    ...RATE_HEADERS,
  ];
  const shared: ErrorCode[] = ['unauthorized', 'too_many_requests', 'internal_error', 'service_unavailable'];
  if (isMutation) shared.push('forbidden');
  if (body) shared.push('payload_too_large', 'unsupported_media_type');
  if (isIdempotent) shared.push('idempotency_conflict', 'idempotency_mismatch');
  const answers: AnswerDescription[] = [
    {
      status: success.status,
      description: success.description,
      headers,
      content: answer && { schema: answer, example: examples.answer },
    },
    ...(queryParams.length > 0 || body || isIdempotent ? [describeBadRequest(operation)] : []),
    ...(notFound === undefined ? [] : [describeRefusal('not_found', ERRORS.not_found.meaning, notFound)]),
    ...SHARED_REFUSALS.filter(({ sharedCode }) => shared.includes(sharedCode)),
  ];
  if (!deprecation) return answers;
  const further = Object.keys(deprecationHeaders(deprecation)); // on its refusals, too: they are shared with no other operation
  return answers.map(({ sharedCode: _shared, ...answer }) => ({
    ...answer,
    headers: [...new Set([...answer.headers, ...further])],
  }));
}

/** The headers of every answer to a request that is counted: one whose key is valid. */
const RATE_HEADERS = ['RateLimit-Policy', 'RateLimit'];

/** The 400 of an operation. The example message is a real one: it comes from reading an invalid input. */
function describeBadRequest({ body, queryParams }: Operation): AnswerDescription {
  if (body) {
    const messageOfEmpty = refusalOf(() => body.readJson({}, ''));
    const missing = messageOfEmpty === undefined ? '' : 'is missing required fields or ';
    const message = messageOfEmpty ?? refusalOf(() => body.readJson([], ''));
    return describeRefusal('bad_request', `The body ${missing}has invalid values.`, message);
  }
  if (queryParams.length === 0)
    return describeRefusal('bad_request', 'The Idempotency-Key is not valid.', IDEMPOTENCY_KEY.message);
  const description =
    'A query parameter has an invalid value. An addition to the original description: an answer other than the one that was asked for would hide the mistake.';
  // The first query parameter that can be invalid: not a free text, but a number or an enum.
  const found = queryParams.find(({ leaf: { schema } }) => schema.type !== 'string' || schema.enum);
  const message =
    found && textRefusal(found.leaf, found.name, Number(found.leaf.schema.minimum) > 0 ? '0' : 'x').message;
  return describeRefusal('bad_request', description, message ?? IDEMPOTENCY_KEY.message);
}

/** The message of the ApiError that `read` throws; undefined if it throws none. */
function refusalOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (refusal) {
    if (refusal instanceof ApiError) return refusal.message;
  }
  return undefined;
}

/** An Error answer with an example. `headers` are the names of its further headers. */
function describeRefusal(code: ErrorCode, description: string, message?: string, ...headers: string[]) {
  const { status } = ERRORS[code];
  const content = { schema: refer('Error'), example: { code, message, status } };
  const counted = code === 'unauthorized' ? [] : RATE_HEADERS;
  return { status, description, headers: ['X-Request-Id', ...headers, ...counted], content };
}

const SHARED: readonly (readonly [code: ErrorCode, message: string, ...headers: string[]])[] = [
  ['unauthorized', 'The API key is not known.', 'WWW-Authenticate'],
  ['forbidden', 'This API key may only read.'],
  ['idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.', 'Retry-After'],
  ['idempotency_mismatch', 'This Idempotency-Key was used with another input before.'],
  ['payload_too_large', 'The body must not be larger than 65536 bytes.'],
  ['unsupported_media_type', 'The Content-Type must be application/json.', 'Accept', 'Accept-Encoding'],
  ['too_many_requests', 'Too many requests of this API key at once; try again shortly.', 'Retry-After'],
  ['internal_error', 'An internal error occurred.'],
  ['service_unavailable', 'The service is temporarily unavailable; try again shortly.', 'Retry-After'],
];

/** The refusals that are the same for all operations. */
export const SHARED_REFUSALS = SHARED.map(([code, ...told]) => ({
  sharedCode: code,
  ...describeRefusal(code, ERRORS[code].meaning, ...told),
}));
