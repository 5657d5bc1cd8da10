// Written by scripts/shipped.ts.
import type { ShippedTable } from '../shipped.ts';
import { lavapipe } from './lavapipe.ts';
import { swiftshader } from './swiftshader.ts';

export const TABLES: readonly ShippedTable[] = [swiftshader, lavapipe];
