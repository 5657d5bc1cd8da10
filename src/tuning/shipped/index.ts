import type { ShippedTable } from '../shipped.ts';

export const TABLES: readonly ShippedTable[] = [];
