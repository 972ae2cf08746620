// The config file of the platform that signs people in with OpenID Connect.
import { defineConfig } from '../../../src/index.ts';

export default defineConfig({
  oidc: {
    name: 'Example Login',
    grants: [
      { group: 'authors', tenant: 'acme', role: 'member' },
      { group: 'readers', tenant: 'acme', role: 'viewer' },
    ],
  },
});
