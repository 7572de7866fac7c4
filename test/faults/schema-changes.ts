const COLLATED = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
/** A new table in the place of the old one: SQLite can change few things of a table. */
const anew = (columns: string) => ['ALTER TABLE pets RENAME TO old', `CREATE TABLE pets (${columns})`];

/**
 * What an operator does to the table of animals. A change `ofEasyRows` would itself fail, or change them, while there are animals whose
 * values the changed schema does not keep.
 */
interface SchemaChange {
  readonly what: string;
  readonly statements: readonly string[];
  readonly ofEasyRows?: true;
}

const MYSQL: readonly SchemaChange[] = [
  { what: 'ids that nobody gives', statements: ['ALTER TABLE pets MODIFY id BIGINT NOT NULL'] },
  { what: 'a further column without a default', statements: ['ALTER TABLE pets ADD COLUMN age INT NOT NULL'] },
  {
    what: 'a trigger that gives ids',
    statements: ['CREATE TRIGGER given BEFORE INSERT ON pets FOR EACH ROW SET NEW.id = UUID_SHORT()'],
  },
  {
    what: 'a trigger that refuses some',
    statements: [
      "CREATE TRIGGER refuse BEFORE INSERT ON pets FOR EACH ROW IF NEW.status = 'sold' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF",
    ],
  },
  {
    what: 'a trigger that trims',
    statements: ['CREATE TRIGGER trim BEFORE INSERT ON pets FOR EACH ROW SET NEW.name = TRIM(NEW.name)'],
  },
  {
    what: 'latin1',
    statements: ['ALTER TABLE pets MODIFY name MEDIUMTEXT CHARACTER SET latin1 NOT NULL'],
    ofEasyRows: true,
  },
  {
    what: 'fewer words',
    statements: ["ALTER TABLE pets MODIFY status ENUM('available', 'sold') NULL"],
    ofEasyRows: true,
  },
  {
    what: 'a type that drops blanks',
    statements: [`ALTER TABLE pets MODIFY name CHAR(255) ${COLLATED} NOT NULL`],
    ofEasyRows: true,
  },
  {
    what: 'a type that is too short',
    statements: [`ALTER TABLE pets MODIFY name CHAR(100) ${COLLATED} NOT NULL`],
    ofEasyRows: true,
  },
  {
    what: 'a unique name',
    statements: ['ALTER TABLE pets ADD UNIQUE INDEX one_name (name(50))'],
    ofEasyRows: true,
  },
  { what: 'a smaller integer', statements: ['ALTER TABLE pets MODIFY category_id INT NOT NULL'], ofEasyRows: true },
  {
    what: 'an unsigned integer',
    statements: ['ALTER TABLE pets MODIFY category_id BIGINT UNSIGNED NOT NULL'],
    ofEasyRows: true,
  },
  {
    what: 'a number that rounds',
    statements: ['ALTER TABLE pets MODIFY category_id DOUBLE NOT NULL'],
    ofEasyRows: true,
  },
  {
    what: 'a foreign key',
    statements: [
      'CREATE TABLE categories (id BIGINT PRIMARY KEY)',
      'INSERT INTO categories VALUES (1), (-1)',
      'ALTER TABLE pets ADD FOREIGN KEY (category_id) REFERENCES categories (id)',
    ],
    ofEasyRows: true,
  },
  {
    what: 'a view in its place',
    statements: ['RENAME TABLE pets TO animals', 'CREATE VIEW pets AS SELECT * FROM animals'],
  },
  {
    what: 'a view with other ids',
    statements: [
      'RENAME TABLE pets TO animals',
      'CREATE VIEW pets AS SELECT id + 0 AS id, name, category_id, status FROM animals',
    ],
  },
];

const COLUMNS = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT';

const SQLITE: readonly SchemaChange[] = [
  {
    what: 'ids that nobody gives',
    statements: anew(COLUMNS.replace('INTEGER PRIMARY KEY', 'BIGINT NOT NULL PRIMARY KEY')),
  },
  { what: 'rows without ids', statements: anew(COLUMNS.replace('INTEGER PRIMARY KEY', 'BIGINT PRIMARY KEY')) },
  { what: 'a further column without a default', statements: anew(`${COLUMNS}, age INTEGER NOT NULL`) },
  {
    what: 'a trigger that changes ids',
    statements: ['CREATE TRIGGER ids AFTER INSERT ON pets BEGIN UPDATE pets SET id = id + 1000 WHERE id = NEW.id; END'],
  },
  {
    what: 'a trigger that refuses some',
    statements: [
      "CREATE TRIGGER refuse BEFORE INSERT ON pets WHEN NEW.status = 'sold' BEGIN SELECT RAISE(ABORT, 'no'); END",
    ],
  },
  {
    what: 'a trigger that leaves some out',
    statements: ["CREATE TRIGGER leave BEFORE INSERT ON pets WHEN NEW.status = 'sold' BEGIN SELECT RAISE(IGNORE); END"],
  },
  {
    what: 'a trigger that trims',
    statements: [
      'CREATE TRIGGER trim AFTER INSERT ON pets BEGIN UPDATE pets SET name = TRIM(name) WHERE id = NEW.id; END',
    ],
  },
  {
    what: 'fewer words',
    statements: anew(COLUMNS.replace('status TEXT', "status TEXT CHECK (status IN ('available', 'sold'))")),
  },
  {
    what: 'other types',
    statements: anew(COLUMNS.replaceAll('TEXT', 'NUMERIC').replace('category_id INTEGER', 'category_id REAL')),
  },
  {
    what: 'a unique name',
    statements: ['CREATE UNIQUE INDEX one_name ON pets (substr(name, 1, 50))'],
    ofEasyRows: true,
  },
  {
    what: 'a foreign key',
    statements: [
      'CREATE TABLE categories (id INTEGER PRIMARY KEY)',
      'INSERT INTO categories VALUES (1), (-1)',
      ...anew(
        COLUMNS.replace('category_id INTEGER NOT NULL', 'category_id INTEGER NOT NULL REFERENCES categories (id)'),
      ),
    ],
  },
  {
    what: 'a view in its place',
    statements: ['ALTER TABLE pets RENAME TO animals', 'CREATE VIEW pets AS SELECT * FROM animals'],
  },
  {
    what: 'a view in its place, with a trigger',
    statements: [
      'ALTER TABLE pets RENAME TO animals',
      'CREATE VIEW pets AS SELECT * FROM animals',
      'CREATE TRIGGER instead INSTEAD OF INSERT ON pets BEGIN INSERT INTO animals (name, category_id, status) VALUES (NEW.name, NEW.category_id, NEW.status); END',
    ],
  },
];

export const SCHEMA_CHANGES = { mysql: MYSQL, sqlite: SQLITE } as const;
