// A reporter of vitest: what no test caught, which the reporter `json` leaves out, into the file that CI_UNHANDLED names.
import { writeFileSync } from 'node:fs';

export default class {
  onTestRunEnd(_modules, errors) {
    const texts = errors.map(({ stack, message }) => stack ?? message);
    if (texts.length > 0) writeFileSync(process.env.CI_UNHANDLED, `${texts.join('\n')}\n`);
  }
}
