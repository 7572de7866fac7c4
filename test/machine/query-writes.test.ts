import { expect, test } from 'vitest';
import type { Builder } from '../../src/gateway/schema/builder.ts';
import { defineService, type Service } from '../../src/gateway/service.ts';
import { toInt64 } from '../../src/lib/exact-json/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { AUTHORS, authorType } from './library/authors.ts';
import { createLibrary } from './library/library.ts';
import { startLibrary } from './library-gateway.ts';

const ID = toInt64(1);

/** The library, with fields that change what is kept where nothing may be changed: whoever wrote them thought of no rights. */
function createCarelessLibrary(): Service {
  const library = createLibrary();
  const resources = library.resources.map((resource) => {
    if (resource.table.name !== AUTHORS.name) return resource;
    return { ...resource, defineTypes: (builder: Builder) => defineCareless(builder, resource.defineTypes) };
  });
  return defineService({ ...library, resources });
}

function defineCareless(builder: Builder, defineAuthors: (builder: Builder) => void): void {
  defineAuthors(builder);
  const author = {
    type: authorType(builder),
    nullable: true,
    description: 'Changes where nothing may be changed.',
  } as const;
  builder.queryFields((t) => ({
    add: t.field({ ...author, resolve: (_root, _args, { store }) => store(AUTHORS).add({ name: 'Nobody' }) }),
    update: t.field({ ...author, resolve: (_root, _args, { store }) => store(AUTHORS).update(ID, { name: 'Nobody' }) }),
    remove: t.field({ ...author, resolve: (_root, _args, { store }) => store(AUTHORS).remove(ID) }),
  }));
  builder.objectField(authorType(builder), 'removed', (t) =>
    t.field({ ...author, resolve: ({ id }, _args, { store }) => store(AUTHORS).remove(id) }),
  );
}

describeEachEngine('what is no field of Mutation', (engine) => {
  test('cannot add, update or remove anything, whatever the key and the method', async () => {
    const library = await startLibrary(engine, { LOG_LEVEL: 'silent' }, createCarelessLibrary());
    const { author } = await library.addBook({ author: 'Anne Brontë' });
    const { key: readOnly } = await library.keys.create({ name: 'reader', expiresAt: null, readOnly: true });
    for (const field of ['add{id}', 'update{id}', 'remove{id}', 'author(id:1){removed{id}}']) {
      for (const key of [library.key, readOnly]) {
        const headers = { authorization: `Bearer ${key}` };
        const byPost = await library.graphql(`{${field}}`, {}, headers);
        const byGet = await library.request(`/graphql?query={${field}}`, { headers });
        for (const { json } of [byPost, byGet])
          expect([field, json.errors]).toMatchObject([field, [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]]);
      }
    }
    const below = await library.graphql('mutation { addAuthor(input: { name: "Jane" }) { id removed { id } } }');
    expect(below.json.errors).toMatchObject([{ path: ['addAuthor', 'removed'] }]);
    const { authors } = await library.query('{ authors { id name } }');
    expect(authors).toEqual([
      { id: String(author.id), name: 'Anne Brontë' },
      { id: below.json.data.addAuthor.id, name: 'Jane' },
    ]);
  });
});
