import { type Deprecation, isoDay, longDay } from '../deprecations.ts';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';
import { IDEMPOTENCY_KEY } from '../schema/context.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { refuseText } from './input-representation.ts';
import type { Json } from './leaf-representation.ts';
import { describeRefusal, headerReferences, jsonContent, REFUSAL_RESPONSES } from './openapi-components.ts';
import type { Operation, Parameter } from './operation.ts';

/** What the OpenAPI document says of an operation. */
export function describeOperation(operation: Operation): Json {
  const { operationId, summary, stability, tag, body, examples } = operation;
  const [deprecation] = operation.deprecations;
  return {
    operationId,
    summary,
    description: describeIt(operation, deprecation),
    tags: [tag],
    ...(deprecation && { deprecated: true, 'x-deprecated-sunset': isoDay(deprecation.sunset) }),
    ...(stability && { 'x-stability': stability }),
    parameters: describeParameters(operation),
    ...(body && { requestBody: { required: true, content: jsonContent(bodySchema(body.schema), examples.body) } }),
    responses: describeResponses(operation, deprecation),
  };
}

/** The named schema alone: what the argument says of it stands with the operation. */
function bodySchema({ $ref }: Json): Json {
  return { $ref };
}

function describeIt({ description, isPaged }: Operation, deprecation?: Deprecation): string {
  const sentences = [description];
  if (isPaged) sentences.push('When more follow, the `Link` header (RFC 8288) holds the address of the next page.');
  if (deprecation) {
    const { sunset, replacement } = deprecation;
    sentences.push(`Deprecated: removal is scheduled for ${longDay(sunset)}; use ${replacement.rest} instead.`);
  }
  return sentences.join(' ');
}

const IDEMPOTENCY_PARAMETER: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours the same API key with the same Idempotency-Key and the same body gets the first answer again, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY.most, pattern: IDEMPOTENCY_KEY.pattern.source },
  example: '5f0c1a52-8f0e-4c5b-9a4e-6d1f0b8c7e21',
};

function describeParameters({ inPath, inQuery, isIdempotent, examples }: Operation): Json[] {
  const describe = (place: string) => (parameter: Parameter) => ({
    name: parameter.name,
    in: place,
    required: parameter.isRequired,
    ...(parameter.argument.description && { description: parameter.argument.description }),
    schema: parameterSchema(parameter),
    ...(examples.parameters &&
      parameter.name in examples.parameters && { example: examples.parameters[parameter.name] }),
  });
  return [
    ...inPath.map(describe('path')),
    ...inQuery.map(describe('query')),
    ...(isIdempotent ? [IDEMPOTENCY_PARAMETER] : []),
  ];
}

function parameterSchema({ argument: { defaultValue }, leaf }: Parameter): Json {
  return { ...leaf.schema, ...(defaultValue !== undefined && { default: JSON.parse(leaf.write(defaultValue)) }) };
}

function describeResponses(operation: Operation, deprecation?: Deprecation): Json {
  const { success, answer, examples, isPaged, isIdempotent, hasContent } = operation;
  const deprecated = Object.keys(deprecation ? deprecationHeaders(deprecation) : {});
  const headers = [
    ...(isPaged ? ['Link'] : []),
    ...(success.location ? ['Location'] : []),
    ...(isIdempotent ? ['Idempotency-Replayed'] : []),
    ...RATE_LIMIT_HEADERS,
    ...deprecated,
  ];
  const refusals = refusalsOf(operation).map((code): [number, Json] => [
    ERRORS[code].status,
    describeOwn(operation, code) ?? { $ref: `#/components/responses/${code}` },
  ]);
  return {
    [success.status]: {
      description: success.description,
      headers: headerReferences(headers),
      ...(hasContent && { content: jsonContent(answer.schema, examples.answer) }),
    },
    ...Object.fromEntries(refusals), // an object has its integer keys in their order
  };
}

const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'];

/** Every refusal that an operation can give. */
function refusalsOf({ inQuery, body, isMutation, isIdempotent, notFound }: Operation): ErrorCode[] {
  return [
    ...(inQuery.length > 0 || body || isIdempotent ? ['bad_request' as const] : []),
    'unauthorized',
    ...(isMutation ? ['forbidden' as const] : []),
    ...(notFound === undefined ? [] : ['not_found' as const]),
    ...(body ? ['payload_too_large' as const, 'unsupported_media_type' as const] : []),
    ...(isIdempotent ? ['idempotency_conflict' as const, 'idempotency_mismatch' as const] : []),
    'too_many_requests',
    'internal_error',
    'service_unavailable',
  ];
}

/** A refusal whose example is the operation's own. */
function describeOwn(operation: Operation, code: ErrorCode): Json | undefined {
  if (code in REFUSAL_RESPONSES) return undefined;
  if (code === 'not_found') {
    return describeRefusal(code, 'The requested resource could not be found.', operation.notFound ?? '');
  }
  const description = operation.body
    ? `The body ${refusalOfBody(operation, {}) === undefined ? '' : 'is missing required fields or '}has invalid values.`
    : 'A query parameter has an invalid value. An addition to the original description: an answer other than the one that was asked for would hide the mistake.';
  return describeRefusal(code, description, wrongInput(operation));
}

/** What is said of a body of this value; undefined when it is taken. */
function refusalOfBody({ body }: Operation, value: unknown): string | undefined {
  try {
    body?.readJson(value, '');
  } catch (refusal) {
    if (refusal instanceof ApiError) return refusal.message;
  }
  return undefined;
}

/** What is said of an input that is not allowed: of a body without anything in it, or that is no object, or of a query parameter. */
function wrongInput(operation: Operation): string {
  const { inQuery } = operation;
  const ofBody = refusalOfBody(operation, {}) ?? refusalOfBody(operation, []);
  if (ofBody !== undefined) return ofBody;
  const wrong = inQuery.flatMap(({ name, leaf }) => {
    const text = ['0', 'x'].find(
      (candidate) => !(Number(leaf.fromText(candidate)) >= Number(leaf.schema.minimum ?? 0)),
    );
    return text === undefined ? [] : [refuseText(leaf, name, text).message];
  });
  return wrong[0] ?? IDEMPOTENCY_KEY.message;
}
