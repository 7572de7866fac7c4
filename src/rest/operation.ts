import { getNullableType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { Deprecation } from '../deprecations.ts';
import { type Compile, type CompiledOperation, type CompiledVariable, loadedKey } from '../schema/compile.ts';
import {
  type Json,
  nameList,
  type Output,
  representInputLeaf,
  representInputObject,
  representOutput,
} from './representation.ts';

/** A row of the table: what a GraphQL document, and the schema below it, cannot say of a REST operation. */
export interface Row {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the version segment; what stands in braces are variables of the document. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly stability?: 'experimental' | 'beta';
  /**
   * One root field. A variable is a parameter in the path, the body if it is an input object, or else a query parameter;
   * what the document selects is what is written.
   */
  readonly document: string;
  /**
   * What OpenAPI calls the objects that are given; by default as their type is called. Two operations that ask for
   * different fields of one type need different names.
   */
  readonly schemaName?: string;
  readonly success: {
    /** 204 has no content, whatever the document selects. */
    readonly status: 200 | 201 | 204;
    readonly description: string;
    /** `Location`: a path below the version segment; what stands in braces are properties of what was made. */
    readonly location?: string;
  };
  /** The message of 404: a parameter in the path leads nowhere, or the root field gives null. */
  readonly notFound?: string;
  /** Whether an `Idempotency-Key` makes its retries safe: its resolver adds by `store(…).add`. */
  readonly isIdempotent?: true;
  readonly examples: {
    /** Absent where there is no content. */
    readonly answer?: unknown;
    readonly body?: unknown;
    /** Of parameters, by their names. */
    readonly parameters?: Json;
  };
}

/** What REST must know of a service. */
export interface RestService {
  readonly api: { readonly title: string; readonly version: string; readonly description: string };
  readonly basePath: string;
  readonly deprecations: readonly Deprecation[];
  readonly resources: readonly {
    readonly table: { readonly name: string };
    readonly description: string;
    readonly rows: readonly Row[];
  }[];
}

/** The query parameter that asks for the next page. */
export const CURSOR = 'after';

/** Compiles a row of the group `tag`. Throws an error that stops the start when the row does not fit the schema. */
export function compileRow(row: Row, tag: string, compile: Compile) {
  const { operationId, notFound } = row;
  const compiled = compile(row.document);
  const { deprecations, isMutation, field, variables, selection, run } = compiled;
  if (isMutation === (row.method === 'GET')) {
    throw new Error(`${operationId}: GET is for what changes nothing, and every other method for what does.`);
  }
  const pathNames = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const inPath = pathNames.map((pathName) => {
    const variable = variables.find(({ name }) => name === pathName);
    if (!variable?.isRequired) throw new Error(`${operationId} requires no variable ${pathName}.`);
    return toParameter(variable);
  });
  const [body, ...bodies] = variables.flatMap(toBody);
  if (bodies.length > 0) throw new Error(`${operationId} has several bodies.`);
  const inQuery = variables
    .filter((variable) => toBody(variable).length === 0 && !pathNames.includes(variable.name))
    .map(toParameter);
  if (notFound === undefined && (inPath.length > 0 || !isNonNullType(field.type))) {
    throw new Error(`${operationId} needs the message of its 404.`);
  }
  return {
    ...row,
    tag,
    deprecations,
    isMutation,
    hasContent: row.success.status !== 204,
    inPath,
    inQuery,
    /** The body, and the name of the argument that it is. */
    body,
    /** Whether it gives pages of a list, by the arguments of `pageArguments`. */
    isPaged: isListType(getNullableType(field.type)) && inQuery.some(({ name }) => name === CURSOR),
    answer: representAnswer(compiled, row.schemaName),
    /** The property of what `run` gave that has the member of the answer. Throws when the document does not ask for it. */
    keyOf(member: string): string {
      const asked = selection?.fields.find(({ responseName }) => responseName === member);
      if (!selection || !asked) throw new Error(`${operationId} asks for no ${member}, which its headers tell.`);
      return loadedKey(selection, asked);
    },
    run,
  };
}

/** A row with all that is derived from its document. */
export type Operation = ReturnType<typeof compileRow>;

function toBody({ argument: { name, type } }: CompiledVariable) {
  const object = getNullableType(type);
  return isInputObjectType(object) ? [{ name, ...representInputObject(object) }] : [];
}

function toParameter(variable: CompiledVariable) {
  return { ...variable, leaf: representInputLeaf(variable.argument) };
}

/** A parameter in the path or the query. */
export type Parameter = ReturnType<typeof toParameter>;

function representAnswer({ field, selection, variables }: CompiledOperation, schemaName?: string): Output {
  const { description } = field;
  const answer = representOutput({ field, selection }, schemaName);
  if (!selection || !isListType(getNullableType(field.type))) return answer;
  const limit = variables.find(({ argument }) => argument.name === 'limit');
  const maxItems = limit && representInputLeaf(limit.argument).schema.maximum;
  return nameList(answer, schemaName ?? selection.type.name, {
    description,
    ...(maxItems !== undefined && { maxItems }),
  });
}
