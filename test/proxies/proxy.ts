import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AgentOptions } from 'node:https';
import { join } from 'node:path';
import { makeCertificate } from '../support/certificate.ts';
import { endWithUs } from '../support/end-with-us.ts';
import { afterFile, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually, type LoadClient } from '../support/load.ts';
import { freePorts } from '../support/ports.ts';
import { findProgram, has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

/** The name of the site in the files of deploy/. */
export const SITE = 'pets.example.com';

/** A proxy as its operators run it, with its file of deploy/. */
export interface ProxyServer {
  /** Its addresses with and without TLS. */
  readonly https: string;
  readonly http: string;
  /** A client that believes its certificate and asks for the site. */
  connect(key: string, options?: AgentOptions, url?: string): LoadClient;
  /** The lines of its access log so far, parsed. */
  accessLog(): Record<string, unknown>[];
}

/** Where the proxy listens, and what it works with. */
interface Place {
  readonly folder: string;
  readonly port: number;
  readonly tlsPort: number;
}

/** What is known of a proxy: its program, the committed file as it is started here, and how its access log is read. */
interface Kind {
  readonly program: string;
  /** Writes the configuration; gives the words of the command. */
  configure(place: Place, file: string): string[];
  accessLog(folder: string, output: string): string;
}

const nginx: Kind = {
  program: 'nginx',
  configure({ folder, port, tlsPort }, file) {
    const site = file
      .replaceAll(/listen (\[::\]:)?443/g, (_, v6 = '') => `listen ${v6}${tlsPort}`)
      .replaceAll(/listen (\[::\]:)?80;/g, (_, v6 = '') => `listen ${v6}${port};`)
      .replaceAll('/etc/ssl/pets.example.com', folder)
      .replace('/var/log/nginx/', `${folder}/`);
    writeFileSync(join(folder, 'site.conf'), site);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`);
    const main = [
      `user root; daemon off; worker_processes 2; pid ${folder}/pid; error_log stderr;`,
      `events {}\nhttp { access_log off; ${paths.join(' ')}\ninclude site.conf; }\n`,
    ];
    writeFileSync(join(folder, 'main.conf'), main.join('\n'));
    return ['-e', 'stderr', '-p', folder, '-c', join(folder, 'main.conf')];
  },
  accessLog: (folder) => readFileSync(join(folder, 'petstore.log'), 'utf8'),
};

const caddy: Kind = {
  program: 'caddy',
  configure({ folder, port, tlsPort }, file) {
    const options = `admin off\nhttp_port ${port}\nhttps_port ${tlsPort}\nskip_install_trust`;
    const certificate = `tls ${folder}/fullchain.pem ${folder}/privkey.pem`;
    const path = join(folder, 'Caddyfile');
    writeFileSync(path, `{\n${options}\n}\n${file.replace(`\n${SITE} {`, `\n${SITE} {\n${certificate}`)}`);
    return ['run', '--config', path, '--adapter', 'caddyfile'];
  },
  accessLog: (_folder, output) => output.replaceAll(/^(?!.*"msg":"handled request").*$/gm, ''),
};

const PROXIES = { nginx, caddy } as const;
type ProxyName = keyof typeof PROXIES;
export const PROXY_NAMES = ['nginx', 'caddy'] as const;

/** Whether a proxy can be tested here: each needs a certificate. */
export function hasProxy(name: ProxyName): boolean {
  return has(name, 'openssl');
}

/**
 * Starts a proxy in front of gateways at ports of this machine, with its file of deploy/, which `edit` may change; it ends
 * after the test file.
 */
export async function startProxy(
  name: ProxyName,
  gateways: readonly [number, number],
  edit = (file: string) => file,
): Promise<ProxyServer> {
  const { program, configure, accessLog } = PROXIES[name];
  const folder = temporaryFolder();
  const port = await freePorts([0, 1]);
  const tlsPort = port + 1;
  const certificate = join(folder, 'fullchain.pem');
  makeCertificate(SITE, join(folder, 'privkey.pem'), certificate);
  const ca = readFileSync(certificate, 'utf8');
  const committed = readFileSync(join(ROOT, 'deploy', name === 'caddy' ? 'Caddyfile' : 'nginx.conf'), 'utf8');
  const file = gateways.reduce(
    (text, gateway, index) => text.replaceAll(`127.0.0.1:${4000 + index}`, `127.0.0.1:${gateway}`),
    edit(committed),
  );
  const words = configure({ folder, port, tlsPort }, file);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(findProgram(program) ?? program, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.once('exit', endWithUs({ pid: child.pid }));
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  afterFile(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const proxy: ProxyServer = {
    https: `https://127.0.0.1:${tlsPort}`,
    http: `http://127.0.0.1:${port}`,
    connect(key, options, url = proxy.https) {
      const client = connectClient(url, key, { ca, servername: SITE, ...options });
      return {
        ...client,
        ask: (method, path, body, headers) => client.ask(method, path, body, { host: SITE, ...headers }),
      };
    },
    accessLog: () =>
      accessLog(folder, output)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
  const listens = async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    const client = proxy.connect('');
    return client
      .ask('GET', '/metrics')
      .then(
        () => true,
        () => false,
      )
      .finally(client.close);
  };
  await eventually(listens, 30_000, `${program} listens`);
  return proxy;
}
