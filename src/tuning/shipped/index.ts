// Written by scripts/shipped.ts.
import type { ShippedTable } from '../shipped.ts';
import { h200 } from './h200.ts';
import { lavapipe } from './lavapipe.ts';
import { swiftshader } from './swiftshader.ts';

export const TABLES: readonly ShippedTable[] = [h200, swiftshader, lavapipe];
