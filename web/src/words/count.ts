/** Numbers with the noun that they count. */

const format = new Intl.NumberFormat('en');

/** `1,200`. */
export const exact = (amount: number): string => format.format(amount);

/** `count(1, 'job', 'jobs')` is `1 job`; `count(1200, 'job', 'jobs')` is `1,200 jobs`. */
export function count(amount: number, one: string, many: string): string {
  return `${exact(amount)} ${amount === 1 ? one : many}`;
}
