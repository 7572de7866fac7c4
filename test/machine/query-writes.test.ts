import { expect, test } from 'vitest';
import type { Builder } from '../../src/gateway/schema/builder.ts';
import { defineService, type Service } from '../../src/gateway/service.ts';
import { describeEachEngine } from '../support/engines.ts';
import { AUTHORS, authorType } from './library/authors.ts';
import { createLibrary } from './library/library.ts';
import { startLibrary } from './library-gateway.ts';

/** The library, with a field of Query that adds: whoever wrote it thought of no rights. */
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
  builder.queryField('inventAuthor', (t) =>
    t.field({
      type: authorType(builder),
      description: 'Adds where nothing may be added.',
      resolve: (_root, _args, { store }) => store(AUTHORS).add({ name: 'Nobody' }),
    }),
  );
}

describeEachEngine('a field of Query', (engine) => {
  test('cannot add anything, whatever the key and the method', async () => {
    const library = await startLibrary(engine, { LOG_LEVEL: 'silent' }, createCarelessLibrary());
    const { key: readOnly } = await library.keys.create({ name: 'reader', expiresAt: null, readOnly: true });
    for (const key of [library.key, readOnly]) {
      const headers = { authorization: `Bearer ${key}` };
      const byPost = await library.graphql('{ inventAuthor { id } }', {}, headers);
      const byGet = await library.request('/graphql?query={inventAuthor{id}}', { headers });
      for (const { json } of [byPost, byGet])
        expect(json.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
    }
    expect(await library.stores(AUTHORS).isEmpty()).toBe(true);
  });
});
