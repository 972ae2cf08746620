/** Numbers with the noun that they count. */

const exact = new Intl.NumberFormat('en');

/** `count(1, 'job', 'jobs')` is `1 job`; `count(1200, 'job', 'jobs')` is `1,200 jobs`. */
export function count(amount: number, one: string, many: string): string {
  return `${exact.format(amount)} ${amount === 1 ? one : many}`;
}
