import { ApiError } from '../errors.ts';
import { type Int64, int64FromJson, parseInt64 } from '../int64.ts';
import { isPetName, LIST_LIMIT, type NewPet, PET_STATUSES, type PetStatus, parsePetStatus } from '../pets/pet.ts';
import { isJsonObject } from '../web/json-body.ts';

/** How a query parameter is read, and what the OpenAPI document says of it. */
export interface QueryParameter<T> {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** What is allowed, as the message of a refusal says it. */
  readonly allowed: string;
  /** The value of a text, or undefined when the text is not allowed. */
  parse(text: string): T | undefined;
}

const { least, most, fallback } = LIST_LIMIT;

/** `limit`: how many animals a page has at most. */
export const LIMIT: QueryParameter<number> = {
  name: 'limit',
  description: 'Maximum number of animals returned.',
  schema: { type: 'integer', minimum: least, maximum: most, default: fallback },
  allowed: `an integer from ${least} to ${most}`,
  parse(text) {
    const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return limit >= least && limit <= most ? limit : undefined;
  },
};

/** `status`: only animals of this availability. */
export const STATUS: QueryParameter<PetStatus> = {
  name: 'status',
  description: 'Returns only animals with this availability status.',
  schema: { $ref: '#/components/schemas/PetStatus' },
  allowed: `one of ${PET_STATUSES.join(', ')}`,
  parse: parsePetStatus,
};

/** `after`: only animals with a greater id. */
export const AFTER: QueryParameter<Int64> = {
  name: 'after',
  description: 'Returns only animals with a greater id. The `Link` header of a page has it filled in for the next one.',
  schema: { type: 'integer', format: 'int64' },
  allowed: 'the id of an animal, an integer of 64 bits',
  parse: parseInt64,
};

/** The value of a query parameter, or null when it is absent. ApiError `bad_request` when wrong or repeated. */
export function readQuery<T>(query: URLSearchParams, parameter: QueryParameter<T>): T | null {
  const { name, allowed } = parameter;
  const [text, ...more] = query.getAll(name);
  if (text === undefined) return null;
  const value = more.length > 0 ? undefined : parameter.parse(text);
  if (value !== undefined) return value;
  throw new ApiError('bad_request', `The query parameter ${name} must be ${allowed}, given once.`);
}

/** The id in a path. ApiError `not_found` when it is no canonical 64-bit integer: no animal can have it. */
export function readPetId(text: string | undefined): Int64 {
  return parseInt64(text ?? '') ?? refusePetId();
}

/** The refusal of an id that no animal has. */
export function refusePetId(): never {
  throw new ApiError('not_found', 'No animal has this id.');
}

/** The NewPet in a JSON body. ApiError `bad_request` names the field and what is allowed. */
export function readNewPet(body: unknown): NewPet {
  if (!isJsonObject(body)) throw new ApiError('bad_request', 'The body must be a JSON object.');
  return {
    name: readField(body, 'name', 'a string of well-formed Unicode', (value) =>
      typeof value === 'string' && isPetName(value) ? value : undefined,
    ),
    categoryId: readField(body, 'categoryId', 'an integer of 64 bits', int64FromJson),
    status: Object.hasOwn(body, 'status') ? readField(body, 'status', STATUS.allowed, parsePetStatus) : null,
  };
}

function readField<T>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  allowed: string,
  parse: (value: unknown) => T | undefined,
): T {
  if (!Object.hasOwn(body, name)) throw new ApiError('bad_request', `${name} is required: ${allowed}.`);
  const value = parse(body[name]);
  if (value === undefined) throw new ApiError('bad_request', `${name} must be ${allowed}.`);
  return value;
}
