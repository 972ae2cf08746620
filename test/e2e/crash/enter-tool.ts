// A transactional tool with a table of its own. Its process may die before it writes, and after it has written.
import type { TransactionalJsonSchemaTool } from '../../../src/index.ts';

/** Of the tool, one row for each call that happened. */
export const ENTRIES = 'public.crash_entries';

export const MAKE_ENTRIES = `create table if not exists ${ENTRIES} (call_id uuid not null, note text not null)`;

export function enterTool(notify: (what: string) => void): TransactionalJsonSchemaTool {
  return {
    name: 'enter',
    transactional: true,
    description: 'Writes a row.',
    input_schema: { type: 'object', additionalProperties: false },
    async execute(_, { tx, tool_call_id }) {
      notify('enter begins');
      await tx.query(`insert into ${ENTRIES} (call_id, note) values ($1, 'entered')`, [tool_call_id]);
      notify('enter has written');
      return 'entered';
    },
  };
}
