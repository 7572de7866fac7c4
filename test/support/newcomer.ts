import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** The environment of somebody who has our Node, npm and nothing of this project: none of its packages is in reach. */
export function newcomersEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  const places = PATH.split(delimiter).filter((place) => !place.endsWith('node_modules/.bin'));
  // npm looks for the machine's settings beside the Node that runs it: those of the machine's own Node hold here, too.
  const settings = execFileSync('npm', ['config', 'get', 'globalconfig'], {
    env: { PATH: places.join(delimiter), HOME },
    encoding: 'utf8',
  });
  return {
    PATH: [dirname(process.execPath), ...places].join(delimiter),
    HOME,
    npm_config_globalconfig: settings.trim(),
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  };
}
