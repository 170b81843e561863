use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use ts_rs::TS;

/// A path as bytes: a JSON string where it is UTF-8, else `{"bytes": "<base64>"}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WirePath(pub Vec<u8>);

#[derive(Serialize, Deserialize, TS)]
#[serde(untagged)]
#[ts(rename = "WirePath")]
pub(crate) enum PathForm {
    Text(String),
    Raw { bytes: String },
}

impl WirePath {
    /// The path as text, with the replacement character where it is not UTF-8.
    pub fn display(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<&str> for WirePath {
    fn from(path: &str) -> Self {
        WirePath(path.as_bytes().to_vec())
    }
}

impl TS for WirePath {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn name(cfg: &ts_rs::Config) -> String {
        PathForm::name(cfg)
    }

    fn inline(cfg: &ts_rs::Config) -> String {
        PathForm::inline(cfg)
    }
}

impl Serialize for WirePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => PathForm::Raw { bytes: BASE64_STANDARD.encode(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WirePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match PathForm::deserialize(deserializer)? {
            PathForm::Text(text) => Ok(WirePath(text.into_bytes())),
            PathForm::Raw { bytes } => BASE64_STANDARD.decode(&bytes).map(WirePath).map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_utf8_survives_json() {
        for bytes in [b"src/auth.rs".to_vec(), vec![b'a', 0xff, b'b']] {
            let json = serde_json::to_string(&WirePath(bytes.clone())).unwrap();
            assert_eq!(serde_json::from_str::<WirePath>(&json).unwrap().0, bytes);
        }
        assert_eq!(serde_json::to_string(&WirePath(vec![0xff])).unwrap(), r#"{"bytes":"/w=="}"#);
    }
}
