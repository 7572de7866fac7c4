/** The rules of the API description, as a careful author of hand-written routes would keep them. */

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** A row as the driver gives it with `supportBigNumbers`: a number while that is exact, else decimal text. */
export interface PetRow {
  readonly id: number | string;
  readonly name: string;
  readonly category_id: number | string;
  readonly status: PetStatus | null;
}

export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
}

export interface PetsQuery {
  readonly limit: number;
  readonly status: PetStatus | undefined;
  readonly after: bigint | undefined;
}

/** A refusal: HTTP status, code of the Error body, message. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get body() {
    return { code: this.code, message: this.message, status: this.status };
  }
}

export const badRequest = (message: string) => new HttpError(400, 'bad_request', message);
export const unauthorized = () => new HttpError(401, 'unauthorized', 'A valid API key is required.');
export const notFound = () => new HttpError(404, 'not_found', 'There is no such animal.');

/** `text` as an id, or undefined when it is no canonical 64-bit integer. */
export function parseId(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const id = BigInt(text);
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

/** The query of a list. Throws HttpError 400. */
export function readPetsQuery(query: URLSearchParams): PetsQuery {
  const limit = query.get('limit') ?? '20';
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > 100) throw badRequest('limit must be 1 to 100.');
  const status = query.get('status') ?? undefined;
  const after = query.get('after') ?? undefined;
  const afterId = after === undefined ? undefined : parseId(after);
  if (after !== undefined && afterId === undefined) throw badRequest('after must be an id.');
  return { limit: Number(limit), status: status === undefined ? undefined : readStatus(status), after: afterId };
}

/** A JSON body as a new animal, its integers exact. Throws HttpError 400. */
export function readNewPet(body: unknown): NewPet {
  if (typeof body !== 'object' || body === null) throw badRequest('The body must be a JSON object.');
  const { name, categoryId, status }: { name?: unknown; categoryId?: unknown; status?: unknown } = body;
  if (typeof name !== 'string' || !name.isWellFormed()) throw badRequest('name must be a string.');
  const exact = typeof categoryId === 'bigint' || Number.isSafeInteger(categoryId);
  const category = exact ? parseId(String(categoryId)) : undefined;
  if (category === undefined) throw badRequest('categoryId must be a 64-bit integer.');
  return { name, categoryId: category, status: status === undefined ? null : readStatus(status) };
}

function readStatus(word: unknown): PetStatus {
  const status = PET_STATUSES.find((known) => known === word);
  if (status === undefined) throw badRequest(`status must be one of ${PET_STATUSES.join(', ')}.`);
  return status;
}

/** JSON.parse that keeps integers beyond 2^53, as bigints. Throws HttpError 400. */
export function parseJson(text: string): unknown {
  try {
    return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw badRequest('The body is no JSON.');
  }
}

// Source text access: https://github.com/tc39/proposal-json-parse-with-source
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? '';
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

declare global {
  interface JSON {
    /** https://github.com/tc39/proposal-json-parse-with-source, in Node since 22; TypeScript 5.9 does not know it. */
    rawJSON(text: string): object;
  }
}

/** A row as JSON.stringify shall write it. */
export function toPet(row: PetRow) {
  return {
    id: exactNumber(row.id),
    name: row.name,
    categoryId: exactNumber(row.category_id),
    status: row.status ?? undefined,
  };
}

function exactNumber(integer: number | string): number | object {
  return typeof integer === 'number' ? integer : JSON.rawJSON(integer);
}

/** The `Link` header of a page after which more animals follow. */
export function nextPageLink(query: PetsQuery, last: PetRow | undefined): string {
  const status = query.status === undefined ? '' : `&status=${query.status}`;
  return `</v1/pets?limit=${query.limit}${status}&after=${last?.id}>; rel="next"`;
}
