import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { type AppServer, startAppServer } from '../support/app-server.ts';
import { makeCertificate } from '../support/certificate.ts';
import { temporaryFolder } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { has } from '../support/tools.ts';

const HEALED_WITHIN_MS = 5000;

describe.runIf(has('database', 'openssl'))('the files of trust, while the gateway runs', () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  let app: AppServer;
  let gateway: TestGateway;
  let url: string;

  /** A key and a certificate that is its own authority. */
  const issue = (name: string) => makeCertificate(name, file(`${name}.key`), file(`${name}.pem`));
  const install = (who: string, as: string) => {
    for (const kind of ['key', 'pem']) copyFileSync(file(`${who}.${kind}`), file(`${as}.${kind}`));
  };
  const isWell = async () => (await gateway.request('/v1/pets')).status === 200;
  /** What the log says of a request that is refused now. */
  const refusal = async (): Promise<unknown> => {
    await app.cutAll();
    const { status, headers } = await gateway.request('/v1/pets');
    expect(status).toBe(503);
    return gateway.logs.find(({ requestId, level }) => requestId === headers.get('x-request-id') && level === 50);
  };
  const saying = (words: string) => ({ err: { message: expect.stringContaining(words) } });

  beforeAll(async () => {
    for (const name of ['old', 'new']) issue(name);
    install('old', 'server');
    const files = [
      `--ssl-cert=${file('server.pem')}`,
      `--ssl-key=${file('server.key')}`,
      `--ssl-ca=${file('old.pem')}`,
    ];
    app = await startAppServer(files);
    await app.root.query("ALTER USER app@'%' REQUIRE X509");
    copyFileSync(file('old.pem'), file('ca.pem'));
    install('old', 'client');
    url = `${app.url}?ssl=${file('ca.pem')}&ssl-cert=${file('client.pem')}&ssl-key=${file('client.key')}`;
    gateway = await startGateway({ ...app.engine, freshDatabase: async () => url });
    expect(await isWell()).toBe(true);
  });

  test('doctor says which encryption there is', async () => {
    const { stdout } = await command('doctor', ['--json'], { DATABASE_URL: url });
    expect(JSON.parse(stdout).database.encryption).toMatch(/^TLSv1/);
  });

  test('the server has a new certificate: its new authority counts without a restart', async () => {
    install('new', 'server');
    await app.root.query('FLUSH SSL');
    expect(await refusal()).toMatchObject(saying('certificate'));
    copyFileSync(file('new.pem'), file('ca.pem'));
    await eventually(isWell, HEALED_WITHIN_MS, 'the new authority counts');
  });

  test.each([
    ['is half written', () => writeFileSync(file('ca.pem'), '-----BEGIN CERTIFICATE-----\nMIID')],
    ['is empty', () => writeFileSync(file('ca.pem'), '')],
    ['is gone', () => rmSync(file('ca.pem'))],
  ])('a file that %s: 503, its name in the log, and it heals', async (_what, spoil) => {
    spoil();
    expect(await refusal()).toMatchObject(saying(file('ca.pem')));
    expect((await gateway.request('/readyz')).status).toBe(503);
    copyFileSync(file('new.pem'), file('ca.pem'));
    await eventually(isWell, HEALED_WITHIN_MS, 'it heals');
  });

  test("the gateway's own certificate is renewed, too", async () => {
    install('new', 'client'); // whom the server does not know
    expect(await refusal()).toMatchObject(saying('alert unknown ca'));
    install('old', 'client');
    await eventually(isWell, HEALED_WITHIN_MS, 'it heals');
    expect(JSON.stringify(gateway.logs)).not.toMatch(/S3cret|PRIVATE KEY/);
  });
});
