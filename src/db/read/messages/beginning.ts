/** The beginning of the text of a message, for reads that need not load all of it. */
import { sql, type SQL } from 'drizzle-orm';
import { decodeText } from '../../connection/codec.ts';

/** Bytes of a UTF-16 unit at most, as it is stored. */
const WIDEST = 7;

/** The first bytes of the text of `content`, as hex, because it may be cut inside a character. `units`: enough for these. */
export function beginningOf(content: SQL, units: number): SQL {
  return sql`(
    select ${beginningOfText(sql`string_agg(b.block ->> 'text', '' order by b.place)`, units)}
    from json_array_elements(${content}) with ordinality b(block, place) where b.block ->> 'type' = 'text')`;
}

/** The same of a text that is not in blocks. */
export function beginningOfText(text: SQL, units: number): SQL {
  return sql`encode(substring(convert_to(${text}, 'UTF8') for ${sql.raw(String((units + 1) * WIDEST))}), 'hex')`;
}

/** `hex` null: there is no text. It has more units than were asked for, or all. */
export function readBeginning(hex: string | null): string {
  return decodeText(Buffer.from(hex ?? '', 'hex').toString());
}
