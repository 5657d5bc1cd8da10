/** Starts the page. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/app.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { startGpu } from './state/device.ts';

render(<App />, document.getElementById('app')!);
startGpu();
