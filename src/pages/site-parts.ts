import type { Service } from '../service.ts';
import { type ExampleCalls, findExampleCalls } from './example-calls.ts';
import type { OpenApi } from './openapi-reader.ts';
import { ownAssets, type Page } from './page.ts';

/** What the pages are made from: the service, and where this gateway has what. */
export interface SiteParts {
  readonly service: Service;
  /** The OpenAPI document of the service at a base address, which has no trailing slash. */
  readonly openApi: (baseUrl: string) => object;
  readonly openApiPath: string;
  readonly graphqlPath: string;
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  /** The address that clients reach this gateway at, where somebody said it. */
  readonly publicUrl: string | undefined;
  /** Throws an ApiError, whose message says why, when a request could not be served. */
  readonly checkReady: () => Promise<object>;
}

/** What the pages have together. */
export interface Site extends SiteParts {
  /** The address in samples that are written before a request comes. */
  readonly baseUrl: string;
  /** The OpenAPI document for `baseUrl`. */
  readonly document: OpenApi;
  readonly calls: ExampleCalls;
  /** Colours and type; the icon in the browser's tab; what pages for reading use; the header. */
  readonly assets: Readonly<Record<'style' | 'icon' | 'prose' | 'header', Page>>;
}

// Where nobody said which address the gateway has, the reference's script puts in that of the page.
const USUAL_URL = 'http://127.0.0.1:4000';

/** Reads what the pages have together. Throws an error that stops the start when the service has no list to show. */
export function createSite(parts: SiteParts): Site {
  const { service, openApi, publicUrl: baseUrl = USUAL_URL } = parts;
  const document = openApi(baseUrl) as OpenApi; // made by rest/, whose tests hold it to OpenAPI 3.1
  const [style, icon, prose] = ownAssets(import.meta.url, 'site.css', 'icon.svg', 'prose.css') as [Page, Page, Page];
  const [header] = ownAssets(import.meta.url, 'site-header.css') as [Page];
  return {
    ...parts,
    baseUrl,
    document,
    calls: findExampleCalls(document, service.basePath),
    assets: { style, icon, prose, header },
  };
}
