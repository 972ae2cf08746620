// What the operator asked of worker processes, what they did, and which contexts each claimed. A trigger notes claims in a
// table beside those of the platform. Times of the database, in milliseconds since 1970.
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import { connected } from '../../services/connected.ts';
import { rows } from './database.ts';

/** `from`: its heartbeat had told that it is paused; null: it never did. `to`: before it was asked to go on. */
export type Pause = { process: string; id: string; from: number | null; to: number | null };

/** `code`: its exit code; null: it did not end in time. `leases`: of contexts, after its end. `during`: by the wall clock. */
export type Drain = {
  process: string;
  id: string;
  code: number | null;
  leases: number;
  during: { from: number; to: number };
};

/** `at`: when its transaction began. */
export type Claim = { owner: string; at: number };

export type ProcessRow = { id: string; requested: string; status: string };

/** `alive`: processes at the end. */
export type Operated = { pauses: Pause[]; drains: Drain[]; claims: Claim[]; alive: ProcessRow[] };

const CLAIMS = 'public.claims_made';

/** The tables of the platform exist. */
export async function noteClaims(databaseUrl: string): Promise<void> {
  await connected(databaseUrl, async (sql) => {
    await sql.unsafe(`create table ${CLAIMS} (owner uuid not null, at timestamptz not null)`);
    // With the rights of its owner: processes may have logins of their own.
    await sql.unsafe(`create function public.note_claim() returns trigger language plpgsql security definer as $$ begin
      insert into ${CLAIMS} values (new.lease_owner, transaction_timestamp()); return null; end $$`);
    await sql.unsafe(`create trigger note_claim after update of lease_owner on ${DATABASE_SCHEMA}.contexts for each row
      when (new.lease_owner is not null and new.lease_owner is distinct from old.lease_owner)
      execute function public.note_claim()`);
  });
}

export async function readOperated(databaseUrl: string): Promise<Pick<Operated, 'claims' | 'alive'>> {
  return {
    claims: await rows<Claim>(databaseUrl, `select owner, extract(epoch from at)::float8 * 1000 as at from ${CLAIMS}`),
    alive: await rows<ProcessRow>(
      databaseUrl,
      'select id, requested_status as requested, status from processes where dead_at is null',
    ),
  };
}
