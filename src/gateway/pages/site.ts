import { CREATE_KEY } from '../command-line.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import type { Service } from '../service.ts';
import { type Content, type Html, html, htmlFile } from './html.ts';
import { findExampleCalls, readOperations } from './openapi-reader.ts';
import { ADDRESS, capitalised, ownAssets, relative } from './page.ts';
import { VARIABLE } from './recipes.ts';

/** Where the reference is served. */
export const REFERENCE_PATH = '/docs';

/** The service, the paths and the settings that the pages are made from. */
export interface SiteParts {
  readonly service: Service;
  /** Gives the OpenAPI document for a base address without a trailing slash. */
  readonly openApi: (baseUrl: string) => object;
  readonly openApiPath: string;
  readonly graphqlPath: string;
  /** The path of the GraphQL schema in SDL. */
  readonly sdlPath: string;
  /** What GraphQL alone refuses: each code with its meaning or an example of its message. */
  readonly graphqlRefusals: readonly { readonly code: string; readonly message: string }[];
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  /** The probes that are served beside the pages. */
  readonly probePaths: readonly string[];
}

/** Makes what the pages share. Throws an error, which stops the start, when the service has no list for the samples. */
export function createSite(parts: SiteParts) {
  const { service, openApi, openApiPath, graphqlPath, sdlPath } = parts;
  const operations = readOperations(openApi(ADDRESS), service.basePath);
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
