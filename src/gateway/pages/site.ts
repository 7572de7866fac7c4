import { CREATE_KEY } from '../command-line.ts';
import { ERRORS } from '../errors.ts';
import { KEY_PREFIX } from '../masking.ts';
import type { OperationDescription } from '../rest/operation-description.ts';
import type { Service } from '../service.ts';
import {
  ADDRESS,
  type Content,
  capitalised,
  type Html,
  html,
  htmlFile,
  ownAssets,
  relative,
  VARIABLE,
} from './page.ts';

/** Where the reference is served. */
export const REFERENCE_PATH = '/docs';

/** The service, the paths and the settings that the pages are made from. */
export interface SiteParts {
  readonly service: Service;
  readonly operations: readonly OperationDescription[];
  readonly openApiPath: string;
  readonly graphqlPath: string;
  readonly sdlPath: string;
  /** What GraphQL alone refuses: each code with its meaning or an example of its message. */
  readonly graphqlRefusals: readonly { readonly code: string; readonly message: string }[];
  readonly graphiql: boolean;
  /** The path of PUBLIC_URL, below which clients reach all paths. */
  readonly publicPath: string;
  /** The probes that are served beside the pages. */
  readonly probePaths: readonly string[];
}

/** Makes what the pages share. Throws an error, which stops the start, when the service has no list for the samples. */
export function createSite(parts: SiteParts) {
  const { service, openApiPath, graphqlPath, sdlPath } = parts;
  const operations = parts.operations.map((one) => ({ ...one, path: service.basePath + one.path }));
  const calls = findExampleCalls(operations);
  const { folder, assets } = ownAssets();
  const ASSETS = relative(folder);
  const shared = {
    ASSETS,
    HEAD: htmlFile('head.html', { ASSETS }),
    NAME: service.name,
    THINGS: service.plural,
    THINGS_FIRST: capitalised(service.plural),
    KEEPS: service.subject,
    KEEPS_FIRST: capitalised(service.subject),
    URL: ADDRESS,
    LIST_PATH: calls.list.path,
    GRAPHQL_PATH: graphqlPath,
    SDL_PATH: sdlPath,
    TO_REFERENCE: relative(REFERENCE_PATH),
    TO_OPENAPI: relative(openApiPath),
    TO_SDL: relative(sdlPath),
    CREATE_KEY,
    KEY_PREFIX,
    VARIABLE,
  };
  return {
    ...parts,
    operations,
    calls,
    assets,
    /** A file of HTML of this folder. Besides `contents` it may name what all files share. */
    fill: (name: string, contents: Readonly<Record<string, Content>>) => htmlFile(name, { ...shared, ...contents }),
  };
}

/** What the pages share. */
export type Site = ReturnType<typeof createSite>;

/** Finds the calls for samples. Throws an error, which stops the start, when no operation is a list with a limit. */
function findExampleCalls(operations: readonly OperationDescription[]) {
  const limitOf = ({ parameters }: OperationDescription) => parameters.find(({ name }) => name === 'limit');
  const plain = operations.filter(({ path }) => !path.includes('{'));
  const list = plain.find((one) => one.isList && limitOf(one));
  if (!list) throw new Error('The pages need a list with a limit for their samples: the service has none.');
  const refusal = list.answers.find(({ status }) => status === ERRORS.bad_request.status);
  const create = plain.find(({ body, isIdempotent }) => body && isIdempotent);
  const { schema: { required } = {}, example = {} } = create?.body ?? {};
  const names = required as readonly string[] | undefined; // of a JSON Schema
  const needed = Object.entries(example as object).filter(([name]) => names?.includes(name)); // a body is an object
  return {
    /** The first list: its path, its largest limit, and the Error body for a wrong parameter. */
    list: {
      path: list.path,
      limitMax: Number(limitOf(list)?.schema.maximum),
      refusal: refusal?.content?.example ?? {},
    },
    /** The first create with an `Idempotency-Key`, and a body with its required properties only. */
    create: create && { path: create.path, bodyJson: JSON.stringify(Object.fromEntries(needed)) },
    int64Names: [...new Set(operations.flatMap(({ int64Names }) => int64Names))],
  };
}

/**
 * The header of the reference and of GraphiQL: links between the pages, and the form for the API key, with the dialog of
 * copy-text.js. The script api-key-form.js runs the form; `data-prefix` is the beginning of every key, `data-probe` the
 * call that checks a key.
 */
export function siteHeader({ calls, graphiql, graphqlPath, openApiPath, fill }: Site, current: string): Html {
  const link = (path: string, label: string) =>
    html`<a href="${relative(path)}"${path === current && html` aria-current="page"`}>${label}</a>`;
  return fill('site-header.html', {
    LINKS: [
      link(REFERENCE_PATH, 'Reference'),
      graphiql && link(graphqlPath, 'GraphiQL'),
      link(openApiPath, 'openapi.json'),
    ],
    PROBE: `${relative(calls.list.path)}?limit=1`,
  });
}
