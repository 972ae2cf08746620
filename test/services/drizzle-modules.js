// Resolves the imports of drizzle-orm and between its modules. Node itself parses its package.json, of 180 KB, once for
// each of them: half of the time in which a process of tests loads the sources.
import { registerHooks } from 'node:module';

/** Where its entries are, by the names that our modules import. */
const entries = new Map();

const isOwn = (url) => url?.startsWith('file:') === true && !url.includes('/node_modules/');

registerHooks({
  resolve(specifier, context, resolve) {
    const { parentURL, conditions } = context;
    if (specifier.startsWith('.') && parentURL?.includes('/node_modules/drizzle-orm/'))
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    if (!/^drizzle-orm(?:\/|$)/.test(specifier) || !isOwn(parentURL) || !conditions.includes('import'))
      return resolve(specifier, context);
    const entry = entries.get(specifier) ?? resolve(specifier, context);
    entries.set(specifier, entry);
    return { ...entry, shortCircuit: true };
  },
});
