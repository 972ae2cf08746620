// Resolves the imports between the modules of drizzle-orm. Node itself parses its package.json, of 180 KB, once for each
// of its 400 modules: a third of the time in which a process of tests loads the sources.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, resolve) {
    const { parentURL } = context;
    return specifier.startsWith('.') && parentURL?.includes('/node_modules/drizzle-orm/')
      ? { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
      : resolve(specifier, context);
  },
});
