import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/gateway/log.ts';

function written(thrown: unknown): string {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).error({ err: thrown }, 'it failed');
  return lines.join('');
}

describe('an error of a database in the log', () => {
  test.each([
    ["Incorrect integer value: 'secret' for column `d`.`t`.`a` at row 1", ' for column `d`.`t`.`a` at row 1'],
    ["Incorrect string value: '\\xE7 secret'\n' for column 'b' at row 1", " for column 'b' at row 1"],
    ["Duplicate entry 'it's a secret' for key 'pets.name'", " for key 'pets.name'"],
    ["Duplicate entry 'x' for key 'secret' for key 'pets.name'", " for key 'pets.name'"],
    ["Truncated incorrect DOUBLE value: 'secret'", 'Truncated incorrect DOUBLE value: '],
  ])('%s is told without the value', (message, told) => {
    const line = written(
      Object.assign(new Error(message), { sqlMessage: message, sql: "INSERT ('secret')", errno: 1 }),
    );
    expect(line).not.toContain('secret');
    expect(JSON.parse(line).err).toMatchObject({ type: 'Error', errno: 1, message: expect.stringContaining(told) });
    expect(JSON.parse(line).err.stack).toContain('log.test.ts');
  });

  test('other errors, and what is none, stand there as they are', () => {
    expect(JSON.parse(written(new TypeError("Cannot read 'value'"))).err.message).toBe("Cannot read 'value'");
    expect(JSON.parse(written('a text')).err).toBe('a text');
  });
});
