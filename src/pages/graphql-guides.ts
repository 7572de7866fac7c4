import { KEY_PREFIX } from '../key-mask.ts';
import { formatJson, keyVariable } from './code-samples.js';
import { ADDRESS, inline } from './page.ts';
import { connectionRecipes, graphqlRecipes } from './recipes.ts';
import type { Site } from './site.ts';

/** A section of the reference. `text` is HTML; `code` stands beside it, by language if there are several. */
export interface Guide {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly code: string | Readonly<Record<string, string>>;
}

const VARIABLE = keyVariable(KEY_PREFIX);

/** The guides for GraphQL alone. A tab of GraphiQL that asks for `pageInfo` is the example of paging. */
export function createGraphqlGuides(site: Site): readonly Guide[] {
  const { service, graphqlPath, sdlPath, graphiql, calls, graphqlRefusals } = site;
  const url = ADDRESS + graphqlPath;
  const tabs = service.resources.flatMap((resource) => resource.tabs ?? []);
  const paged = tabs
    .find(({ query }) => query.includes('pageInfo'))
    ?.query.replaceAll(/^#.*\n/gm, '')
    .trim();
  const refusals = graphqlRefusals.map(
    ({ code, message }) => `<dt><code>${code}</code></dt><dd>${inline(message)}</dd>`,
  );
  const [{ code, message } = {}] = graphqlRefusals.slice(-1);
  return [
    {
      id: 'graphql',
      title: 'GraphQL calls',
      text: `<p>Queries and mutations go to <code>${graphqlPath}</code> by POST, as JSON with <code>query</code>, <code>variables</code> and <code>operationName</code>; queries by GET, too, as <a href="https://graphql.github.io/graphql-over-http/draft/">GraphQL over HTTP</a> says. The schema is at <a href="${sdlPath.slice(1)}">${sdlPath}</a> without a key; introspection needs one.${graphiql ? ` <a href="${graphqlPath.slice(1)}">GraphiQL</a> shows it and completes what you type.` : ''}</p><p>Look at <code>errors</code> whatever the status is: what a field refuses stands there, beside <code>data</code>, with status 200. A client that accepts ${inline('`application/graphql-response+json`')} gets 400 for what cannot be run. Ids are texts. Put values into variables: a document that is sent again has been planned already.</p>`,
      code: graphqlRecipes(url, service.firstCalls.graphql, VARIABLE),
    },
    {
      id: 'graphql-paging',
      title: 'GraphQL paging',
      text: `<p>A list takes <code>limit</code>, at most ${calls.list.limitMax}, and <code>after</code>: the last id of a page asks for the next one. A field whose name ends in <code>Connection</code> is the same list with cursors, as Relay and other frontends expect them: <code>first</code> says how many, <code>hasNextPage</code> whether more follow, and <code>endCursor</code> is the <code>after</code> of the next page. Cursors are opaque: send them back as they came.</p>`,
      code: paged === undefined ? '' : connectionRecipes(url, paged, VARIABLE),
    },
    {
      id: 'limits',
      title: 'GraphQL limits',
      text: `<p>What asks for too much is refused before any ${service.things} are read; only the size of an answer is counted while it is written. Besides the <a href="#errors">codes of both APIs</a>, <code>extensions.code</code> may be one of these, with such a message:</p><dl>${refusals.join('')}</dl>`,
      code: formatJson(JSON.stringify({ errors: [{ message, extensions: { code } }] }), '  '),
    },
  ];
}
