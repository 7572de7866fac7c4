import type { Knex } from 'knex';

/**
 * Records tell of any create, not of an animal's only: `result_id`. `pet_id` stays, and is written as well, for a
 * version that runs beside this one; a record of that version has no `result_id`.
 */
export async function up(knex: Knex): Promise<void> {
  if (await knex.schema.hasColumn('idempotency_keys', 'result_id')) return;
  await knex.schema.alterTable('idempotency_keys', (table) => {
    table.bigInteger('result_id').nullable();
  });
}

export async function down(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasColumn('idempotency_keys', 'result_id'))) return;
  await knex.schema.alterTable('idempotency_keys', (table) => {
    table.dropColumn('result_id');
  });
}
