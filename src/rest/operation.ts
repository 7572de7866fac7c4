import {
  type GraphQLArgument,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Deprecation } from '../deprecations.ts';
import { type Compile, type CompiledOperation, type CompiledVariable, loadedKey } from '../schema/compile.ts';
import { type Input, representInput, representParameter } from './input-representation.ts';
import { type Json, type Leaf, representLeaf } from './leaf-representation.ts';
import { type Output, representObject, representPage } from './output-representation.ts';

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
   * One root field. Its variables are the parameters in the path, the body (a variable that is an input object) and else
   * the query parameters; what it selects is what is written.
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

/** A parameter in the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly argument: GraphQLArgument;
  readonly leaf: Leaf;
  readonly isRequired: boolean;
}

/** A row with all that is derived from its document. */
export interface Operation extends Row {
  readonly tag: string;
  readonly deprecations: readonly Deprecation[];
  readonly isMutation: boolean;
  /** Whether its answer has a body. */
  readonly hasContent: boolean;
  readonly inPath: readonly Parameter[];
  readonly inQuery: readonly Parameter[];
  /** The body, and the argument that it is. */
  readonly body: Input | undefined;
  /** Whether it gives pages of a list, by the arguments of `pageArguments`. */
  readonly isPaged: boolean;
  readonly answer: Output;
  /**
   * The property that has a member of the answer, in an object that `run` gave, for headers that tell it too. Throws an
   * error that stops the start when the document does not ask for it.
   */
  keyOf(member: string): string;
  readonly run: CompiledOperation['run'];
}

/** Compiles a row of the group `tag`. Throws an error that stops the start when it does not fit the schema. */
export function compileRow(row: Row, tag: string, compile: Compile): Operation {
  const compiled = compile(row.document);
  const { deprecations, isMutation, field, variables, selection, run } = compiled;
  const [body, ...bodies] = variables.filter(isBody);
  const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const variable = variables.find((candidate) => candidate.name === name);
    if (!variable?.isRequired) throw new Error(`${row.operationId} requires no variable ${name}.`);
    return toParameter(variable);
  });
  const isInPath = ({ name }: { name: string }) => inPath.some((parameter) => parameter.name === name);
  const inQuery = variables.filter((variable) => !isBody(variable) && !isInPath(variable)).map(toParameter);
  if (isMutation === (row.method === 'GET')) {
    throw new Error(`${row.operationId}: GET is for what changes nothing, and every other method for what does.`);
  }
  if (bodies.length > 0) throw new Error(`${row.operationId} has several bodies.`);
  if (row.notFound === undefined && (inPath.length > 0 || !isNonNullType(field.type))) {
    throw new Error(`${row.operationId} needs the message of its 404.`);
  }
  return {
    ...row,
    tag,
    deprecations,
    isMutation,
    hasContent: row.success.status !== 204,
    inPath,
    inQuery,
    body: body && representInput(body.argument),
    isPaged: isListType(getNullableType(field.type)) && inQuery.some(({ name }) => name === CURSOR),
    answer: representAnswer(compiled, row.schemaName),
    keyOf(member) {
      const asked = selection?.fields.find(({ responseName }) => responseName === member);
      if (!selection || !asked) throw new Error(`${row.operationId} asks for no ${member}, which its headers tell.`);
      return loadedKey(selection, asked);
    },
    run,
  };
}

/** The query parameter that asks for the next page. */
export const CURSOR = 'after';

function isBody({ argument }: CompiledVariable): boolean {
  return isInputObjectType(getNamedType(argument.type));
}

function toParameter({ name, argument, isRequired }: CompiledVariable): Parameter {
  return { name, argument, leaf: representParameter(argument), isRequired };
}

function representAnswer({ field, selection, variables }: CompiledOperation, schemaName?: string): Output {
  if (!selection) return representLeaf(getNamedType(field.type));
  const name = schemaName ?? selection.type.name;
  const item = representObject(selection, name);
  if (!isListType(getNullableType(field.type))) return item;
  const limit = variables.find(({ argument }) => argument.name === 'limit');
  const maxItems = limit && representParameter(limit.argument).schema.maximum;
  return representPage(item, name, field.description ?? '', maxItems);
}
