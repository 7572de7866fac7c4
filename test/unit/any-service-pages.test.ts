import { describe, expect, test } from 'vitest';
import { ADDRESS } from '../../src/gateway/pages/page.ts';
import { createPages } from '../../src/gateway/pages/page-routes.ts';
import type { SiteParts } from '../../src/gateway/pages/site.ts';
import type { OperationDescription } from '../../src/gateway/rest/operation-description.ts';
import type { Service } from '../../src/gateway/service.ts';

const INT64 = { type: 'integer', format: 'int64' };
const described = (schema: object) => ({ schema: { ...schema }, reference: {} });
const content = (example: unknown) => ({ schema: {}, example });
const COMMON = { parameters: [], isList: false, int64Names: ['isbn'] };

const LIST: OperationDescription = {
  ...{ ...COMMON, operationId: 'listBooks', method: 'GET', path: '/books', summary: 'List', description: 'Lists.' },
  isList: true,
  parameters: [
    { name: 'limit', in: 'query', required: false, ...described({ type: 'integer', minimum: 1, maximum: 50 }) },
  ],
  answers: [
    { status: 200, description: 'Books.', headers: [], content: content([{ isbn: 7, title: 'It' }]) },
    { status: 400, description: 'Wrong.', headers: [], content: content({ code: 'wrong', message: 'limit!' }) },
  ],
};
const CREATE: OperationDescription = {
  ...{ ...COMMON, operationId: 'createBook', method: 'POST', path: '/books', summary: 'Add', description: 'Adds.' },
  isIdempotent: true,
  body: {
    ...described({ properties: { isbn: INT64, title: { type: 'string' } }, required: ['title'] }),
    example: { title: 'It', isbn: 7 },
  },
  answers: [{ status: 201, description: 'The book.', headers: [], content: content({ isbn: 7, title: 'It' }) }],
};
const REMOVE: OperationDescription = {
  ...{ ...COMMON, operationId: 'removeBook', method: 'DELETE', path: '/books/{isbn}', summary: 'Remove' },
  description: 'Removes.',
  parameters: [{ name: 'isbn', in: 'path', required: true, ...described(INT64), example: 7 }],
  answers: [{ status: 204, description: 'It is gone.', headers: [] }],
};

const service: Service = {
  name: 'Library',
  plural: 'books',
  subject: 'the books of a library',
  firstCalls: { rest: '/books', graphql: '{ books { title } } # <!-- </script>' },
  api: { title: 'Library', version: '1.0.0', description: 'Books.' },
  basePath: '/v9',
  resources: [],
  deprecations: [],
};

function partsOf(operations: readonly OperationDescription[]): SiteParts {
  return {
    service,
    operations,
    openApiPath: '/v9/openapi.json',
    graphqlPath: '/graphql',
    sdlPath: '/schema.graphql',
    graphqlRefusals: [{ code: 'TOO_MANY_BOOKS', message: 'Ask for fewer books.' }],
    graphiql: true,
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
    expect(await load(path)).toContain('data-probe="v9/books?limit=1"');
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
    expect(text).toContain('https://library.example/v9/books?limit=50');
    expect(text).toContain('{&#34;title&#34;:&#34;It&#34;}');
    expect(text).toContain('<code>isbn</code> is a JSON integer');
    expect(text).not.toContain('id="deprecations"');
  });

  test('the guides show what a list refuses, and the large integers of a list alone', async () => {
    const text = await pagesOf(LIST)('/docs');
    const [, guides = ''] = text.split('<section id="errors"');
    expect(guides.split('</section>')[0]).toContain('&#34;message&#34;: &#34;limit!&#34;');
    expect(text).toContain('<code>isbn</code> is a JSON integer');
  });

  test('the guides name several large integers as a sentence does', async () => {
    const text = await pagesOf({ ...LIST, int64Names: ['isbn', 'shelf', 'row'] })('/docs');
    expect(text).toContain('<code>isbn</code>, <code>shelf</code> and <code>row</code> are JSON integers');
  });

  test('what has a limit and gives no list is no example of one', async () => {
    const shelf = { ...LIST, operationId: 'getShelf', path: '/shelf', isList: false };
    const text = await pagesOf(shelf, LIST)('/docs');
    expect(text).toContain('https://library.example/v9/books?limit=50');
  });

  test('without creates there is no guide to repeat them, without a list there are no pages', async () => {
    expect(await pagesOf(LIST)('/docs')).not.toContain('id="retries"');
    expect(() => pagesOf(CREATE)).toThrow('list');
  });

  test('an operation whose answer has no content: no sample reads any, and none is shown', async () => {
    const section = await sectionOf('removeBook');
    expect(section).toContain('curl -X DELETE &#39;https://library.example/v9/books/7&#39;');
    expect(section).toContain('It is gone.</h4></div>');
    expect(section).not.toMatch(/data-answer|JSON\.parse|response\.json|<textarea/);
    expect(await sectionOf('listBooks')).toMatch(/data-answer.*JSON\.parse.*response\.json/s);
    expect(await sectionOf('createBook')).toContain('<textarea');
  });
});
