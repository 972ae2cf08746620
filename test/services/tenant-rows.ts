// Which tables have rows of a tenant.

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

/** The names of tables with rows of the tenant, other than its own. */
export async function tablesWithRowsOf(query: Query, tenantId: number | string): Promise<string[]> {
  const tables = await query(`
    select c.table_name as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'nightshift' and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE' order by 1`);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await query(`select 1 from ${String(name)} where tenant_id = ${tenantId} limit 1`);
    if (rows.length > 0) found.push(String(name));
  }
  return found;
}
