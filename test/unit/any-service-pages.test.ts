import { describe, expect, test } from 'vitest';
import { ADDRESS } from '../../src/gateway/pages/page.ts';
import { createPages } from '../../src/gateway/pages/page-routes.ts';
import type { SiteParts } from '../../src/gateway/pages/site.ts';
import type { OperationDescription } from '../../src/gateway/rest/operation-description.ts';
import { createRestApi } from '../../src/gateway/rest/rest-api.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import { createLibrary } from '../machine/library/library.ts';

const library = createLibrary();
const { operations } = createRestApi(library, createSchema(library), () => expect.fail('no page reads a store'));
const operation = (id: string) => operations.find(({ operationId }) => operationId === id) ?? expect.fail(id);
const LIST = operation('listBooks');
const { body: newBook, ...create } = operation('createBook');
/** Its example has a member that may be left out. */
const CREATE = { ...create, body: newBook && { ...newBook, example: { pages: 7, ...Object(newBook.example) } } };
const REMOVE = operation('removeBook');
const firstCalls = { rest: '/books', graphql: '{ books { title } } # <!-- </script>' };
const service = { ...library, firstCalls, resources: [], deprecations: [] };

function partsOf(operations: readonly OperationDescription[]): SiteParts {
  return {
    service,
    operations,
    openApiPath: '/api/v2/openapi.json',
    graphqlPath: '/graphql',
    sdlPath: '/schema.graphql',
    graphqlRefusals: [{ code: 'TOO_MANY_BOOKS', message: 'Ask for fewer books.' }],
    graphiql: true,
    publicPath: '',
    probePaths: [],
  };
}

function pagesOf(...operations: OperationDescription[]) {
  const pages = createPages(partsOf(operations));
  return async (path: string) => {
    const page = pages.find((one) => one.path === path);
    return String(await page?.load()).replaceAll(ADDRESS, 'https://library.example');
  };
}

const load = pagesOf(LIST, CREATE, REMOVE);

/** The part of the reference that is about one operation. */
async function sectionOf(id: string): Promise<string> {
  const [, section = ''] = (await load('/docs')).split(`<section id="${id}"`);
  return section.split('</section>')[0] ?? '';
}

describe('the pages of any service', () => {
  test.each(['/docs', '/graphql'])('%s tries a key at the list of this service', async (path) => {
    expect(await load(path)).toContain('data-probe="api/v2/books?limit=1"');
  });

  test('what a browser may keep for ever has a path that changes with it', () => {
    const kept = createPages(partsOf([LIST])).filter(({ immutable }) => immutable);
    expect(kept.map(({ path }) => path.slice(0, 8))).toEqual(kept.map(() => '/assets/'));
    expect(kept.length).toBeGreaterThan(5);
  });

  test('an example operation stays within the settings of GraphiQL, whatever is written in it', async () => {
    const [, settings = ''] = (await load('/graphql')).split('id="settings">');
    const { tabs } = JSON.parse(settings.split('</script>')[0] ?? '');
    expect(tabs).toEqual([{ query: service.firstCalls.graphql }]);
    expect(settings.split('</script>')[0]).not.toContain('<');
  });

  test('the guides show calls that it has', async () => {
    const text = await load('/docs');
    expect(text).toContain('https://library.example/api/v2/books?limit=100');
    expect(text).toContain(
      '{&#34;title&#34;:&#34;Emma: A Novel&#34;,&#34;authorId&#34;:4,&#34;genre&#34;:&#34;novel&#34;}',
    );
    expect(text).toContain('<code>id</code> is a JSON integer');
    expect(text).not.toContain('id="deprecations"');
  });

  test('the guides of lists alone: a call of one, what it refuses, and its large integers as a sentence names them', async () => {
    const shelf = { ...LIST, operationId: 'getShelf', path: '/shelf', isList: false };
    const text = await pagesOf(shelf, { ...LIST, int64Names: ['isbn', 'shelf', 'row'] })('/docs');
    expect(text).toContain('https://library.example/api/v2/books?limit=100');
    expect(text).toContain('<code>isbn</code>, <code>shelf</code> and <code>row</code> are JSON integers');
    const [, guides = ''] = text.split('<section id="errors"');
    expect(guides.split('</section>')[0]).toContain('&#34;message&#34;: &#34;limit=0 is not allowed');
  });

  test('without creates there is no guide to repeat them, without a list there are no pages', async () => {
    expect(await pagesOf(LIST)('/docs')).not.toContain('id="retries"');
    expect(() => pagesOf(CREATE)).toThrow('list');
  });

  test('an operation whose answer has no content: no sample reads any, and none is shown', async () => {
    const section = await sectionOf('removeBook');
    expect(section).toContain('curl -X DELETE &#39;https://library.example/api/v2/books/7&#39;');
    expect(section).toMatch(/It is gone\.<\/h4>(?:(?!<pre).)*<\/p><\/div><div class="answer">/);
    expect(section).not.toMatch(/data-answer|JSON\.parse|response\.json|<textarea/);
    expect(await sectionOf('listBooks')).toMatch(/data-answer.*JSON\.parse.*response\.json/s);
    expect(await sectionOf('createBook')).toContain('<textarea');
  });
});
