import { type ASTNode, BREAK, type DocumentNode, GraphQLError, Kind, visit } from 'graphql';
import { copyText } from '../caches.ts';

/** In characters, more than an answer has of a message. graphql-js may quote the whole input in each of ten, 6 MB for 64 kB. */
const MESSAGE_MAX = 1000;

/** Errors as they are kept: with their code, and without what V8 keeps for an error. */
export function withCode(errors: readonly GraphQLError[], code: string): readonly GraphQLError[] {
  return errors.map((error) => {
    const { message } = error;
    // Another error, because V8 keeps the first message of one.
    const kept =
      message.length > MESSAGE_MAX ? new GraphQLError(copyText(message.slice(0, MESSAGE_MAX)), error) : error;
    kept.extensions.code ??= code;
    kept.stack = ''; // until it is read or set, V8 keeps the parser or the rules that it names, with all tokens
    return kept;
  });
}

/** An error about a value in the text, with what the value is of: graphql-js names that for variables only. */
export function nameValue(error: GraphQLError, document: DocumentNode): GraphQLError {
  const [value] = error.nodes ?? [];
  if (!value?.kind.endsWith('Value')) return error;
  const core = coreOf(value);
  let owners: string[] = []; // the innermost is the last
  visit(document, {
    enter(node, _key, parent = node, _path, ancestors) {
      const isIt = node.kind === value.kind && coreOf(node) === core;
      if (!isIt && (node.loc === undefined || node.loc !== value.loc)) return undefined;
      owners = [...ancestors, parent].flatMap((around) => ('kind' in around ? ownerOf(around) : []));
      return BREAK;
    },
  });
  const owner = owners.at(-1);
  return owner ? new GraphQLError(`${owner}: ${error.message}`, { nodes: error.nodes }) : error;
}

/** What a copy of a value has too: graphql-js copies lists and objects, to put values in the place of variables. */
function coreOf(node: ASTNode): ASTNode {
  const inner = node.kind === Kind.LIST ? node.values[0] : node.kind === Kind.OBJECT ? node.fields[0]?.name : undefined;
  return inner ? coreOf(inner) : node;
}

function ownerOf(node: ASTNode): string[] {
  if (node.kind === Kind.ARGUMENT) return [`Argument "${node.name.value}"`];
  if (node.kind === Kind.OBJECT_FIELD) return [`Field "${node.name.value}"`];
  return node.kind === Kind.VARIABLE_DEFINITION ? [`Variable "$${node.variable.name.value}"`] : [];
}
