import { describe, expect, test } from 'vitest';
import { KEY_PREFIX } from '../../src/gateway/key-mask.ts';
import { ADDRESS } from '../../src/gateway/pages/page.ts';
import type { SiteParts } from '../../src/gateway/pages/site.ts';
import { createPages } from '../../src/gateway/pages/site-pages.ts';
import type { Service } from '../../src/gateway/service.ts';

const BOOK = { type: 'object', properties: { isbn: { type: 'integer', format: 'int64' }, title: { type: 'string' } } };
const json = (schema: object, example: unknown) => ({ 'application/json': { schema, example } });
const parameter = (name: string, place: string, schema: object) => ({ name, in: place, schema });
const say = (operationId: string) => ({ operationId, summary: `${operationId} it`, description: 'What it does.' });

const LIST = {
  ...say('listBooks'),
  parameters: [parameter('limit', 'query', { type: 'integer', minimum: 1, maximum: 50 })],
  responses: {
    200: { description: 'Books.', content: json({ type: 'array', items: BOOK }, [{ isbn: 7, title: 'It' }]) },
    400: { description: 'A wrong parameter.', content: json({ type: 'object' }, { code: 'wrong', message: 'limit!' }) },
  },
};
const CREATE = {
  ...say('createBook'),
  parameters: [parameter('Idempotency-Key', 'header', { type: 'string' })],
  requestBody: { content: json({ ...BOOK, required: ['title'] }, { title: 'It', isbn: 7 }) },
  responses: { 201: { description: 'The book.', content: json(BOOK, { isbn: 7, title: 'It' }) } },
};
const REMOVE = {
  ...say('removeBook'),
  parameters: [{ ...parameter('isbn', 'path', { type: 'integer', format: 'int64' }), required: true, example: 7 }],
  responses: { 204: { description: 'It is gone.' } },
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

function partsOf(paths: object, schemas: object = {}): SiteParts {
  return {
    service,
    openApi: () => ({ info: service.api, paths, components: { schemas } }),
    openApiPath: '/v9/openapi.json',
    graphqlPath: '/graphql',
    sdlPath: '/schema.graphql',
    graphqlRefusals: [{ code: 'TOO_MANY_BOOKS', message: 'Ask for fewer books.' }],
    graphiql: true,
    probePaths: [],
  };
}

function pagesOf(paths: object, schemas?: object) {
  const pages = createPages(partsOf(paths, schemas));
  return async (path: string) => {
    const page = pages.find((one) => one.path === path);
    return String(await page?.load()).replaceAll(ADDRESS, 'https://library.example');
  };
}

const load = pagesOf({ '/books': { get: LIST, post: CREATE }, '/books/{isbn}': { delete: REMOVE } });

/** The part of the reference that is about one operation. */
async function sectionOf(id: string): Promise<string> {
  const [, section = ''] = (await load('/docs')).split(`<section id="${id}"`);
  return section.split('</section>')[0] ?? '';
}

describe('the pages of any service', () => {
  test.each(['/docs', '/graphql'])('%s speaks of this service only', async (path) => {
    const text = (await load(path)).replaceAll(new RegExp(KEY_PREFIX, 'gi'), '');
    expect(text).toContain('Library</span>');
    expect(text).toContain('data-probe="v9/books?limit=1"');
    expect(text).not.toMatch(/animal|\bpet/i);
  });

  test('what a browser may keep for ever has a path that changes with it', () => {
    const kept = createPages(partsOf({ '/books': { get: LIST } })).filter(({ immutable }) => immutable);
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
    const text = await pagesOf({ '/books': { get: LIST } })('/docs');
    const [, guides = ''] = text.split('<section id="errors"');
    expect(guides.split('</section>')[0]).toContain('&#34;message&#34;: &#34;limit!&#34;');
    expect(text).toContain('<code>isbn</code> is a JSON integer');
  });

  test('the guides name several large integers as a sentence does', async () => {
    const int64 = { type: 'integer', format: 'int64' };
    const schema = { type: 'array', items: { ...BOOK, properties: { isbn: int64, shelf: int64, row: int64 } } };
    const responses = { ...LIST.responses, 200: { description: 'Books.', content: json(schema, []) } };
    const text = await pagesOf({ '/books': { get: { ...LIST, responses } } })('/docs');
    expect(text).toContain('<code>isbn</code>, <code>shelf</code> and <code>row</code> are JSON integers');
  });

  test('what has a limit and gives no list is no example of one', async () => {
    const shelf = { ...LIST, operationId: 'getShelf', responses: CREATE.responses };
    const text = await pagesOf({ '/shelf': { get: shelf }, '/books': { get: LIST } })('/docs');
    expect(text).toContain('https://library.example/v9/books?limit=50');
  });

  test('without creates there is no guide to repeat them, without a list there are no pages', async () => {
    expect(await pagesOf({ '/books': { get: LIST } })('/docs')).not.toContain('id="retries"');
    expect(() => pagesOf({ '/books': { post: CREATE } })).toThrow('list');
  });

  test('what is said beside a reference goes before what it refers to', async () => {
    const genre = { $ref: '#/components/schemas/Genre', description: 'What it is about.' };
    const requestBody = { content: json({ type: 'object', properties: { genre } }, {}) };
    const schemas = { Genre: { type: 'string', enum: ['novel'], description: 'Any genre.' } };
    const text = await pagesOf({ '/books': { get: LIST, post: { ...CREATE, requestBody } } }, schemas)('/docs');
    expect(text).toContain('one of <code>novel</code></span></dt><dd>What it is about.</dd>');
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
