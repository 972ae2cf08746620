/** A wrong value as text that follows "not". */

const LONGEST_QUOTE = 40;

/** Null: the message does not show the value. `isQuotable`: it may be repeated. */
export function foundText(value: unknown, isQuotable: boolean): string | null {
  switch (typeof value) {
    case 'string':
      return isQuotable && value.length <= LONGEST_QUOTE ? JSON.stringify(value) : null;
    case 'number':
    case 'bigint':
      return isQuotable ? String(value) : 'a number';
    case 'boolean':
      return isQuotable ? String(value) : 'true or false';
    case 'function':
      return 'a function';
    case 'symbol':
      return value.description ?? null;
    case 'undefined':
      return null;
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'a list' : 'an object';
  }
}
