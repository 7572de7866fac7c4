import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readRecipes } from '../../src/gateway/pages/guides.ts';
import { fillFile, html, inline, ownAssets, versionedAssets } from '../../src/gateway/pages/page.ts';
import { has } from '../support/tools.ts';

describe('HTML', () => {
  test('has a text as a text, whatever is written in it', () => {
    expect(html`<p title="${`"'`}">${'<b>&</b>'}</p>`.html).toBe(
      '<p title="&#34;&#39;">&#60;b&#62;&#38;&#60;/b&#62;</p>',
    );
    expect(inline('`a<b` and `c').html).toBe('<code>a&#60;b</code> and `c');
  });

  test('has HTML as it stands, lists without commas, and nothing of what is not there', () => {
    expect(html`<p>${[html`<b>1</b>`, 2, [false, undefined, '']]}${false}</p>`.html).toBe('<p><b>1</b>2</p>');
  });
});

describe('a file with placeholders', () => {
  const values = { CREATE_KEY: 'make', VARIABLE: 'KEY', KEY_PREFIX: '__URL__', URL: "'$&'" };

  test('has the values in their places as they are', () => {
    expect(fillFile('recipes/keys.sh', values)).toBe(
      `make\nexport KEY=__URL__…\ncurl -H "Authorization: Bearer $KEY" '$&'`,
    );
  });

  test('needs a value for each', () => {
    expect(() => fillFile('recipes/keys.sh', { ...values, CREATE_KEY: undefined } as never)).toThrow(
      'src/gateway/pages/recipes/keys.sh has __CREATE_KEY__',
    );
  });
});

test('the folder of the assets changes with what is in them', async () => {
  const { folder, assets } = ownAssets();
  const contents = await Promise.all(assets.map((asset) => asset.load()));
  expect(folder).toBe(versionedAssets(contents.join('\0')).folder);
});

describe('a text in a program is what it is', () => {
  const TEXTS = ['it\'s "one" line $& \\n', `two\nlines: \` \${x} \\n ''' it's'`];

  test.each(TEXTS)('JavaScript: %j', (text) => {
    const { JavaScript = '' } = readRecipes('graphql-paging', { URL: 'http://x', QUERY: text }, ['JavaScript']);
    const [literal = ''] = JavaScript.split('\nconst headers');
    expect(run(process.execPath, '-e', `${literal}; process.stdout.write(query)`)).toBe(text);
  });

  test.runIf(has('python')).each(TEXTS)('Python: %j', (text) => {
    const { Python = '' } = readRecipes('graphql-paging', { URL: 'http://x', QUERY: text }, ['Python']);
    const [, literal = ''] = Python.split(/import requests\n\n|\nheaders = /);
    expect(run('python3', '-c', `${literal}\nprint(query, end='')`)).toBe(text);
  });

  test('curl', () => {
    const text = "it's\n$HOME";
    const { curl = '' } = readRecipes('paging', { URL: text }, ['curl']);
    expect(run('bash', '-c', `${curl.split('\nwhile')[0]}; printf %s "$url"`)).toBe(text);
  });
});

function run(program: string, ...words: readonly string[]): string {
  return execFileSync(program, words, { encoding: 'utf8' });
}
