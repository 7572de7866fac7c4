import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import type { PetRow } from './pet-rules.ts';
import { PETS_BY_STATUS, type PetStore } from './pet-store.ts';
import { settings } from './settings.ts';

const SELECT = 'SELECT id, name, category_id, status FROM';
// A bigint travels as text: compared with a number, the text must become an integer, not a rounded double.
const INTEGER = 'CAST(? AS SIGNED)';

/** The animals through mysql2's prepared statements: the least that Node needs to ask MariaDB. */
export function createPreparedStore(): PetStore {
  const pool = createPool({
    uri: settings.databaseUrl,
    connectionLimit: settings.poolMax,
    supportBigNumbers: true,
  });

  async function read<Row>(sql: string, values: (string | number | bigint)[]): Promise<Row[]> {
    const [rows] = await pool.execute<(Row & RowDataPacket)[]>(sql, values);
    return rows;
  }

  return {
    listPets({ limit, status, after }) {
      const table = status === undefined ? 'pets' : PETS_BY_STATUS;
      const where = [status !== undefined && 'status = ?', after !== undefined && `id > ${INTEGER}`].filter(Boolean);
      const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
      const values = [status, after, String(limit + 1)].filter((value) => value !== undefined);
      return read<PetRow>(`${SELECT} ${table} ${condition} ORDER BY id LIMIT ?`, values);
    },

    async getPet(id) {
      const [row] = await read<PetRow>(`${SELECT} pets WHERE id = ${INTEGER}`, [id]);
      return row;
    },

    async addPet({ name, categoryId, status }) {
      const sql = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';
      const [{ insertId }] = await pool.execute<ResultSetHeader>(sql, [name, categoryId, status]);
      return { id: insertId, name, category_id: String(categoryId), status };
    },

    async hasKey(hash) {
      const alive = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)';
      const rows = await read(`SELECT id FROM api_keys WHERE hash = ? AND ${alive}`, [hash, Date.now()]);
      return rows.length > 0;
    },
  };
}
