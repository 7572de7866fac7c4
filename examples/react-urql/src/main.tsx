import { type FormEvent, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { createCache, Pets } from './pets.tsx';
import { createClient } from './urql-client.ts';
import './style.css';

const ADDRESS = `${import.meta.env.VITE_GATEWAY_URL ?? 'http://127.0.0.1:4000'}/graphql`;

function App() {
  const [key, setKey] = useState('');
  const [wait, setWait] = useState(0);
  const client = useMemo(() => createClient(ADDRESS, key, setWait, createCache()), [key]);
  const useKey = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setKey(String(new FormData(event.currentTarget).get('key')));
  };
  return (
    <Provider value={client} key={key}>
      <h1>Animals, by urql</h1>
      <form onSubmit={useKey}>
        <label>
          API key
          <input name="key" type="password" required pattern="[!-~]+" autoComplete="off" />
        </label>
        <button type="submit">Use this key</button>
      </form>
      <p role="status">{wait > 0 && `No answer yet. Next try after ${wait} s.`}</p>
      {key === '' ? <p>Every request needs an API key. It is forgotten when you leave the page.</p> : <Pets />}
    </Provider>
  );
}

createRoot(document.getElementsByTagName('main')[0] ?? document.body).render(<App />);
