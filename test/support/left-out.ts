const PARTS = ['browser', 'database'] as const;

/** What TEST_WITHOUT may name, separated by commas: what needs a browser, and what needs a database server. */
export type TestPart = (typeof PARTS)[number];

/** The parts that TEST_WITHOUT leaves out; throws where it names anything else. */
export function leftOut(setting = process.env.TEST_WITHOUT ?? ''): readonly TestPart[] {
  const names = setting.split(',').map((name) => name.trim());
  const unknown = names.find((name) => name !== '' && !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`TEST_WITHOUT=${setting} is not allowed: ${PARTS.join(' or ')}, or both`);
  return PARTS.filter((part) => names.includes(part));
}
