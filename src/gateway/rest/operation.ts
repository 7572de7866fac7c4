import { getNamedType, getNullableType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { FieldPlan } from '../../lib/graphql-plan/graphql-plan.ts';
import type { Deprecation } from '../deprecations.ts';
import { leafKind } from '../schema/schema.ts';
import type { Compile, CompiledOperation, CompiledVariable } from './compile.ts';
import { answerSchema, type Json, representInputLeaf, representInputObject, type Schemas } from './representation.ts';

/** A row of the table of REST operations. It has only what cannot be derived from its GraphQL document and the schema. */
export interface OperationRow {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base path. `{name}` is a path parameter: the variable of that name. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly stability?: 'experimental' | 'beta';
  /**
   * Has one root field. Its variables are path parameters (if the path names them), the body (an input object) or query
   * parameters. The answer has the selected fields.
   */
  readonly document: string;
  /** The OpenAPI schema name of the answer's objects; by default their type. Each selection of a type needs its own name. */
  readonly schemaName?: string;
  readonly success: {
    /** With 204, the answer has no content. */
    readonly status: 200 | 201 | 204;
    readonly description: string;
    /** The path in `Location`, below the base path. `{name}` is a property of the created object. */
    readonly location?: string;
  };
  /** The message of 404: a path parameter is invalid, or the root field is null. */
  readonly notFound?: string;
  /** Whether `Idempotency-Key` applies. The resolver must then create by `store(…).add`. */
  readonly isIdempotent?: true;
  readonly examples: {
    /** Absent with 204. */
    readonly answer?: unknown;
    readonly body?: unknown;
    readonly parameters?: Json;
  };
}

/** The part of a service that REST needs. */
export interface RestService {
  readonly api: { readonly title: string; readonly version: string; readonly description: string };
  readonly basePath: string;
  readonly deprecations: readonly Deprecation[];
  readonly resources: readonly {
    readonly table: { readonly name: string };
    readonly description: string;
    readonly operationRows: readonly OperationRow[];
  }[];
}

/** The query parameter of the next page: the last id of this one. */
export const CURSOR = 'after';

/**
 * Compiles a row for OpenAPI's tag `tag`, and adds the schemas of its types to `schemas`. Throws Error, which stops the start,
 * when the row does not fit the schema.
 */
export function compileOperationRow(row: OperationRow, tag: string, compile: Compile, schemas: Schemas) {
  try {
    return fitOperationRow(row, tag, compile, schemas);
  } catch (error) {
    throw new Error(`${row.operationId}: ${(error as Error).message}`, { cause: error }); // nothing else is thrown there
  }
}

function fitOperationRow(row: OperationRow, tag: string, compile: Compile, schemas: Schemas) {
  const { notFound, success } = row;
  const compiled = compile(row.document);
  const { isMutation, field, variables, selection } = compiled;
  if (isMutation === (row.method === 'GET')) {
    throw new Error('GET is for what changes nothing, and every other method for what does.');
  }
  const pathNames = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const toParameter = (variable: CompiledVariable) => ({
    ...variable,
    leaf: representInputLeaf(schemas, variable.argument),
    example: row.examples.parameters?.[variable.name],
  });
  const pathParams = pathNames.map((pathName) => {
    const variable = variables.find(({ name }) => name === pathName);
    if (!variable?.isRequired) throw new Error(`It requires no variable ${pathName}.`);
    return toParameter(variable);
  });
  const queryParams = variables
    .filter((variable) => !bodyType(variable) && !pathNames.includes(variable.name))
    .map(toParameter);
  const [body, ...bodies] = variables.flatMap((variable) => {
    const type = bodyType(variable);
    return type ? [{ name: variable.argument.name, ...representInputObject(schemas, type) }] : [];
  });
  if (bodies.length > 0) throw new Error('It has several bodies.');
  if (body && row.method === 'GET') throw new Error('GET has no body, which an input object is.');
  if (notFound === undefined && (pathParams.length > 0 || !isNonNullType(field.type))) {
    throw new Error('It needs the message of its 404, notFound.');
  }
  const hasContent = success.status !== 204;
  const isList = isListType(getNullableType(field.type));
  const isPaged = isList && queryParams.some(({ name }) => name === CURSOR);
  if (success.location !== undefined && isList) throw new Error('A list has no Location.');
  refuseOtherId(compiled);
  /** The property of a resolved object for a member of the answer. Throws Error for a member that headers cannot tell. */
  const propertyOf = (member: string): string => {
    const selected = selection?.fields.find(({ responseName }) => responseName === member);
    if (!selected) throw new Error(`Its document asks for no ${member}, which its headers tell.`);
    if (selected.resolver || selected.selection || selected.isNullable)
      throw new Error(`Its headers tell ${member}: that must be a stored value, never null, which no resolver makes.`);
    return selected.property;
  };
  return {
    ...row,
    ...compiled,
    tag,
    isList,
    pathParams,
    queryParams,
    /** How the body is read, with the name of its argument; undefined for an operation without a body. */
    body,
    /** Whether the answer is a list that the parameter CURSOR pages. */
    isPaged,
    /** The property of its items that a page goes by. */
    cursorProperty: isPaged ? propertyOf('id') : '',
    /** The path of its `Location` below the base path; names in braces are properties of the resolved object. */
    location: success.location?.replaceAll(/\{(\w+)\}/g, (_, member) => `{${propertyOf(member)}}`),
    /** The schema of the answer; undefined for an answer without content. */
    answer: hasContent ? answerSchema(schemas, compiled, row.schemaName) : undefined,
    int64Names: hasContent && selection ? selection.fields.filter(isInt64).map(({ responseName }) => responseName) : [],
    isNullable: !isNonNullType(field.type),
  };
}

/** Throws Error for an id under another name, and for what takes its name: pages and headers go by `id`. */
function refuseOtherId({ selection }: CompiledOperation): void {
  for (const { responseName, field } of selection?.fields ?? []) {
    if ((responseName === 'id') !== (field.name === 'id'))
      throw new Error(`It asks for "${responseName}: ${field.name}": only an id is called id, and it always is.`);
  }
}

/** A compiled row: also what is derived from its document. */
export type Operation = ReturnType<typeof compileOperationRow>;

/** A path or query parameter. */
export type Parameter = Operation['queryParams'][number];

function isInt64({ selection, field }: FieldPlan): boolean {
  return selection === undefined && leafKind(getNamedType(field.type)).schema.format === 'int64';
}

function bodyType({ argument: { type } }: CompiledVariable) {
  const object = getNullableType(type);
  return isInputObjectType(object) ? object : undefined;
}
