export const appWords = { notFound: 'APPWORDTEST not found', say: (n: string) => `APPFN ${n}` };
