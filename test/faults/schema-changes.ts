const COLLATED = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/** What an operator does to the table of animals, and what a write check says of it, where it was looked at. */
interface SchemaChange {
  readonly what: string;
  readonly said: string | undefined;
  readonly statements: readonly string[];
  readonly ofEasyRows: boolean;
}

const change = (what: string, said: string | undefined, ...statements: string[]): SchemaChange => ({
  what,
  said,
  statements,
  ofEasyRows: false,
});

/** A change that would itself fail, or change them, while there are animals whose values the changed schema does not keep. */
const ofEasyRows = (...call: Parameters<typeof change>): SchemaChange => ({ ...change(...call), ofEasyRows: true });

/** A new table in the place of the old one: SQLite can change few things of a table. */
const anew = (columns: string) => ['ALTER TABLE pets RENAME TO old', `CREATE TABLE pets (${columns})`];

const MYSQL: readonly SchemaChange[] = [
  change(
    'ids that nobody gives',
    "Field 'id' doesn't have a default value",
    'ALTER TABLE pets MODIFY id BIGINT NOT NULL',
  ),
  change(
    'a further column without a default',
    "Field 'age' doesn't have a default value",
    'ALTER TABLE pets ADD COLUMN age INT NOT NULL',
  ),
  change(
    'a trigger that gives ids',
    'undefined', // each id is known of a row alone
    'CREATE TRIGGER given BEFORE INSERT ON pets FOR EACH ROW SET NEW.id = UUID_SHORT()',
  ),
  change(
    'a trigger that refuses some',
    'some',
    "CREATE TRIGGER refuse BEFORE INSERT ON pets FOR EACH ROW IF NEW.status = 'sold' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF",
  ),
  change(
    'a trigger that trims',
    'pets.name does not keep',
    'CREATE TRIGGER trim BEFORE INSERT ON pets FOR EACH ROW SET NEW.name = TRIM(NEW.name)',
  ),
  ofEasyRows('latin1', 'some', 'ALTER TABLE pets MODIFY name MEDIUMTEXT CHARACTER SET latin1 NOT NULL'),
  ofEasyRows('fewer words', 'some', "ALTER TABLE pets MODIFY status ENUM('available', 'sold') NULL"),
  ofEasyRows('no null', 'some', "ALTER TABLE pets MODIFY status ENUM('available', 'pending', 'sold') NOT NULL"),
  ofEasyRows(
    'a type that drops blanks',
    'pets.name does not keep',
    `ALTER TABLE pets MODIFY name CHAR(255) ${COLLATED} NOT NULL`,
  ),
  ofEasyRows('a type that is too short', undefined, `ALTER TABLE pets MODIFY name CHAR(100) ${COLLATED} NOT NULL`),
  ofEasyRows('a type of fewer characters', 'some', `ALTER TABLE pets MODIFY name VARCHAR(255) ${COLLATED} NOT NULL`),
  ofEasyRows('a unique name', 'some', 'ALTER TABLE pets ADD UNIQUE INDEX one_name (name(50))'),
  ofEasyRows('a smaller integer', 'some', 'ALTER TABLE pets MODIFY category_id INT NOT NULL'),
  ofEasyRows('an unsigned integer', 'some', 'ALTER TABLE pets MODIFY category_id BIGINT UNSIGNED NOT NULL'),
  ofEasyRows('a number that rounds', undefined, 'ALTER TABLE pets MODIFY category_id DOUBLE NOT NULL'),
  ofEasyRows(
    'a foreign key',
    undefined,
    'CREATE TABLE categories (id BIGINT PRIMARY KEY)',
    'INSERT INTO categories VALUES (1), (-1)',
    'ALTER TABLE pets ADD FOREIGN KEY (category_id) REFERENCES categories (id)',
  ),
  change('a view in its place', undefined, 'RENAME TABLE pets TO animals', 'CREATE VIEW pets AS SELECT * FROM animals'),
  change(
    'a view with other ids',
    undefined,
    'RENAME TABLE pets TO animals',
    'CREATE VIEW pets AS SELECT id + 0 AS id, name, category_id, status FROM animals',
  ),
];

const COLUMNS = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT';
const VIEW = ['ALTER TABLE pets RENAME TO animals', 'CREATE VIEW pets AS SELECT * FROM animals'];

const SQLITE: readonly SchemaChange[] = [
  change(
    'ids that nobody gives',
    undefined,
    ...anew(COLUMNS.replace('INTEGER PRIMARY KEY', 'BIGINT NOT NULL PRIMARY KEY')),
  ),
  change('rows without ids', undefined, ...anew(COLUMNS.replace('INTEGER PRIMARY KEY', 'BIGINT PRIMARY KEY'))),
  change('a further column without a default', undefined, ...anew(`${COLUMNS}, age INTEGER NOT NULL`)),
  change(
    'a trigger that changes ids',
    'some',
    'CREATE TRIGGER ids AFTER INSERT ON pets BEGIN UPDATE pets SET id = id + 1000 WHERE id = NEW.id; END',
  ),
  change(
    'a trigger that refuses some',
    'some',
    "CREATE TRIGGER refuse BEFORE INSERT ON pets WHEN NEW.status = 'sold' BEGIN SELECT RAISE(ABORT, 'no'); END",
  ),
  change(
    'a trigger that leaves some out',
    undefined,
    "CREATE TRIGGER leave BEFORE INSERT ON pets WHEN NEW.status = 'sold' BEGIN SELECT RAISE(IGNORE); END",
  ),
  change(
    'a trigger that trims',
    'pets.name does not keep',
    'CREATE TRIGGER trim AFTER INSERT ON pets BEGIN UPDATE pets SET name = TRIM(name) WHERE id = NEW.id; END',
  ),
  change(
    'a trigger that stores another type',
    'pets.name does not keep',
    'CREATE TRIGGER bytes AFTER INSERT ON pets BEGIN UPDATE pets SET name = CAST(name AS BLOB) WHERE id = NEW.id; END',
  ),
  change(
    'fewer words',
    undefined,
    ...anew(COLUMNS.replace('status TEXT', "status TEXT CHECK (status IN ('available', 'sold'))")),
  ),
  change(
    'other types',
    undefined,
    ...anew(COLUMNS.replaceAll('TEXT', 'NUMERIC').replace('category_id INTEGER', 'category_id REAL')),
  ),
  ofEasyRows('a unique name', 'some', 'CREATE UNIQUE INDEX one_name ON pets (substr(name, 1, 50))'),
  change(
    'a foreign key',
    undefined,
    'CREATE TABLE categories (id INTEGER PRIMARY KEY)',
    'INSERT INTO categories VALUES (1), (-1)',
    ...anew(COLUMNS.replace('category_id INTEGER NOT NULL', '$& REFERENCES categories (id)')),
  ),
  change('a view in its place', undefined, ...VIEW),
  change(
    'a view in its place, with a trigger',
    undefined,
    ...VIEW,
    'CREATE TRIGGER instead INSTEAD OF INSERT ON pets BEGIN INSERT INTO animals (name, category_id, status) VALUES (NEW.name, NEW.category_id, NEW.status); END',
  ),
];

export const SCHEMA_CHANGES = { mysql: MYSQL, sqlite: SQLITE } as const;
