import type { Context } from 'koa';
import { KEY_PREFIX } from '../key-mask.ts';
import type { Service } from '../service.ts';
import { plainAddress } from './code-samples.js';
import { type Html, html, htmlFile } from './html.ts';
import { findExampleCalls, readOperations } from './openapi-reader.ts';
import { ADDRESS, ownAssets, type Page, relative } from './page.ts';

/** Where the reference is served. */
export const REFERENCE_PATH = '/docs';

/** The scripts that the reference and GraphiQL share. */
export const SHARED_SCRIPTS = ['api-key-form.js', 'code-samples.js', 'copy-text.js', 'safe-storage.js'];

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
  /** Throws an ApiError with the reason when the gateway is not ready. */
  readonly checkReady: () => Promise<object>;
}

/** Makes what the pages share. Throws an error, which stops the start, when the service has no list for the samples. */
export function createSite(parts: SiteParts) {
  const { service, openApi } = parts;
  const operations = readOperations(openApi(ADDRESS), service.basePath);
  const assets = ownAssets();
  const asset = (name: string): Page => {
    const found = assets.get(name);
    if (found === undefined) throw new Error(`There is no asset ${name}.`);
    return found;
  };
  return {
    ...parts,
    /** The base address for a request. It needs no escaping. */
    addressOf: ({ state }: Context) => plainAddress(state.baseUrl),
    operations,
    calls: findExampleCalls(operations),
    /** Finds an asset of the pages by its name. */
    asset,
    assets: [...assets.values()],
    icon: asset('icon.svg'),
  };
}

/** What the pages share. */
export type Site = ReturnType<typeof createSite>;

/**
 * The header of the reference and of GraphiQL: links between the pages, and the form for the API key, with the dialog of
 * copy-text.js. The script api-key-form.js runs the form; `data-prefix` is the beginning of every key, `data-probe` the
 * call that checks a key.
 */
export function siteHeader({ service, icon, calls, graphiql, graphqlPath, openApiPath }: Site, current: string): Html {
  const link = (path: string, label: string) =>
    html`<a href="${relative(path)}"${path === current && html` aria-current="page"`}>${label}</a>`;
  return htmlFile('site-header.html', {
    ICON: relative(icon.path),
    NAME: service.name,
    LINKS: [
      link(REFERENCE_PATH, 'Reference'),
      graphiql && link(graphqlPath, 'GraphiQL'),
      link(openApiPath, 'openapi.json'),
    ],
    PREFIX: KEY_PREFIX,
    PROBE: `${relative(calls.list.path)}?limit=1`,
  });
}
